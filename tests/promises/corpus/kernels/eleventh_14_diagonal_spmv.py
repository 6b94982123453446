import torch
import triton
import triton.language as tl


# y = A x with A stored by diagonals (scipy.sparse.dia_matrix: data[d, j] = A[j - offsets[d], j])
@triton.jit
def dia_spmv_kernel(data_ptr, offsets_ptr, x_ptr, y_ptr, n, n_diags, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for d in range(n_diags):
        col = row + tl.load(offsets_ptr + d)
        ok = (row < n) & (col >= 0) & (col < n)
        a = tl.load(data_ptr + d * n + col, mask=ok, other=0.0)
        xv = tl.load(x_ptr + col, mask=ok, other=0.0)
        acc += a * xv
    tl.store(y_ptr + row, acc, mask=row < n)


def launch(n=130, n_diags=5):
    data = torch.randn(n_diags, n, device="cuda")
    offsets = torch.randint(-20, 21, (n_diags,), dtype=torch.int32, device="cuda")
    x = torch.randn(n, device="cuda")
    y = torch.empty(n, device="cuda")
    dia_spmv_kernel[(triton.cdiv(n, 64),)](data, offsets, x, y, n, n_diags, BLOCK=64)
    return y


def reference(data, offsets, x):
    n = x.shape[0]
    col = torch.arange(n, device=x.device)[None, :] + offsets[:, None]
    inside = (col >= 0) & (col < n)
    col = col.clamp(0, n - 1)
    return torch.where(inside, data.gather(1, col) * x[col], torch.zeros_like(data)).sum(0)


TRUTH = "verified"
