import torch
import triton
import triton.language as tl


@triton.jit
def coo_spmv_kernel(row_ptr, col_ptr, val_ptr, x_ptr, y_ptr, nnz, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < nnz
    row = tl.load(row_ptr + i, mask=ok, other=0)
    col = tl.load(col_ptr + i, mask=ok, other=0)
    prod = tl.load(val_ptr + i, mask=ok, other=0.0) * tl.load(x_ptr + col, mask=ok, other=0.0)
    y = tl.load(y_ptr + row, mask=ok, other=0.0)
    tl.store(y_ptr + row, y + prod, mask=ok)


def launch(m=12, n=15, nnz=60):
    row = torch.randint(0, m, (nnz,), device="cuda")
    col = torch.randint(0, n, (nnz,), device="cuda")
    val = torch.randn(nnz, device="cuda")
    x = torch.randn(n, device="cuda")
    y = torch.zeros(m, device="cuda")
    coo_spmv_kernel[(triton.cdiv(nnz, 32),)](row, col, val, x, y, nnz, BLOCK=32)
    return y


def reference(row, col, val, x, y):
    return y.index_add(0, row, val * x[col])


# entries of one row race for y[row]: a load and a store where an atomic add is needed
TRUTH = "broken"
