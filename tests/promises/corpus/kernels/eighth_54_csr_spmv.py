import torch
import triton
import triton.language as tl


@triton.jit
def spmv_kernel(ptr_ptr, col_ptr, val_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(ptr_ptr + row)
    end = tl.load(ptr_ptr + row + 1)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(begin, end, BLOCK):
        k = start + tl.arange(0, BLOCK)
        mask = k < end
        col = tl.load(col_ptr + k, mask=mask, other=0)
        val = tl.load(val_ptr + k, mask=mask, other=0.0)
        acc += val * tl.load(x_ptr + col, mask=mask, other=0.0)
    tl.store(y_ptr + row, tl.sum(acc, axis=0))


def launch(R=8, C=30, nnz=60):
    rowptr = torch.sort(torch.randint(0, nnz + 1, (R + 1,), device="cuda")).values
    cols = torch.randint(0, C, (nnz,), device="cuda")
    vals = torch.randn(nnz, device="cuda")
    x = torch.randn(C, device="cuda")
    y = torch.empty(R, device="cuda")
    spmv_kernel[(R,)](rowptr, cols, vals, x, y, BLOCK=16)
    return y


launch.assume = ["0 <= rowptr <= nnz", "0 <= cols < C"]


def reference(rowptr, cols, vals, x):
    k = torch.arange(vals.shape[0], device=x.device)
    of_row = (k >= rowptr[:-1, None]) & (k < rowptr[1:, None])
    return torch.where(of_row, vals * x[cols], 0.0).sum(dim=1)


TRUTH = "verified"
