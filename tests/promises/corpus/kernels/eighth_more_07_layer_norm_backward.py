import torch
import triton
import triton.language as tl


# apex-like layer norm, backward: dx by rows, dw and db by columns, from the saved mean and reciprocal deviation.
@triton.jit
def ln_bwd_dx(g_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    ok = col < N
    x = tl.load(x_ptr + row * N + col, mask=ok, other=0.0)
    wg = tl.load(g_ptr + row * N + col, mask=ok, other=0.0) * tl.load(w_ptr + col, mask=ok, other=0.0)
    r = tl.load(rstd_ptr + row)
    xhat = tl.where(ok, (x - tl.load(mean_ptr + row)) * r, 0.0)
    a = tl.sum(wg * xhat, axis=0) / N
    b = tl.sum(wg, axis=0) / N
    tl.store(dx_ptr + row * N + col, (wg - b - xhat * a) * r, mask=ok)


@triton.jit
def ln_bwd_wb(g_ptr, x_ptr, mean_ptr, rstd_ptr, dw_ptr, db_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    col = tl.program_id(0) * BN + tl.arange(0, BN)
    dw = tl.zeros([BM, BN], dtype=tl.float32)
    db = tl.zeros([BM, BN], dtype=tl.float32)
    for start in range(0, M, BM):
        row = start + tl.arange(0, BM)
        ok = (row[:, None] < M) & (col[None, :] < N)
        at = row[:, None] * N + col[None, :]
        g = tl.load(g_ptr + at, mask=ok, other=0.0)
        x = tl.load(x_ptr + at, mask=ok, other=0.0)
        m = tl.load(mean_ptr + row, mask=row < M, other=0.0)
        r = tl.load(rstd_ptr + row, mask=row < M, other=0.0)
        dw += g * (x - m[:, None]) * r[:, None]
        db += g
    tl.store(dw_ptr + col, tl.sum(dw, axis=0), mask=col < N)
    tl.store(db_ptr + col, tl.sum(db, axis=0), mask=col < N)


def launch(M=10, N=50):
    x = torch.randn(M, N, device="cuda")
    w = torch.randn(N, device="cuda")
    g = torch.randn(M, N, device="cuda")
    mean = x.mean(1)
    rstd = torch.rsqrt(x.var(1, unbiased=False) + 1e-5)
    dx, dw, db = torch.empty_like(x), torch.empty_like(w), torch.empty_like(w)
    ln_bwd_dx[(M,)](g, x, w, mean, rstd, dx, N, BLOCK=triton.next_power_of_2(N))
    ln_bwd_wb[(triton.cdiv(N, 32),)](g, x, mean, rstd, dw, db, M, N, BM=4, BN=32)
    return dx, dw, db


def reference(g, x, w):
    mean = x.mean(1, keepdim=True)
    rstd = torch.rsqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)
    xhat = (x - mean) * rstd
    wg = w * g
    dx = rstd * (wg - wg.mean(1, keepdim=True) - xhat * (wg * xhat).mean(1, keepdim=True))
    return dx, (g * xhat).sum(0), g.sum(0)


TRUTH = "verified"
