"""CSR sparse matrix times dense: one program per row and block of columns, a scalar loop over the row's non-zeros (rows may be empty), alpha/beta epilogue."""
import torch
import triton
import triton.language as tl


@triton.jit
def csr_spmm(crow_ptr, col_ptr, val_ptr, b_ptr, c_ptr, out_ptr, N, alpha, beta, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ok = rn < N
    lo = tl.load(crow_ptr + row)
    hi = tl.load(crow_ptr + row + 1)
    acc = tl.zeros([BLOCK_N], tl.float32)
    for p in range(lo, hi):
        col = tl.load(col_ptr + p)
        val = tl.load(val_ptr + p)
        acc += val * tl.load(b_ptr + col * N + rn, mask=ok, other=0.0)
    c = tl.load(c_ptr + row * N + rn, mask=ok, other=0.0)
    tl.store(out_ptr + row * N + rn, alpha * acc + beta * c, mask=ok)


def launch(R=9, K=14, N=40, nnz=31):
    crow = (torch.arange(R + 1, device="cuda") * nnz // R).to(torch.int32)
    col = torch.randint(0, K, (nnz,), device="cuda", dtype=torch.int32)
    val = torch.randn(nnz, device="cuda")
    b = torch.randn(K, N, device="cuda")
    c = torch.randn(R, N, device="cuda")
    out = torch.empty_like(c)
    csr_spmm[(R, triton.cdiv(N, 32))](crow, col, val, b, c, out, N, 0.5, 2.0, BLOCK_N=32)
    return out


def reference(crow, col, val, b, c):
    p = torch.arange(val.shape[0], device=val.device)
    inside = (p[None, :] >= crow[:-1, None]) & (p[None, :] < crow[1:, None])
    a = torch.where(inside, val[None, :], 0.0)
    return 0.5 * (a @ b[col.long()]) + 2.0 * c
TRUTH = "verified"
