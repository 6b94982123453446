"""LayerNorm backward with dw/db partials per program, summed on the host; BUG: programs beyond the last row return before they store, and the partials come from torch.empty."""
import torch
import triton
import triton.language as tl


@triton.jit
def ln_bwd_kernel(x_ptr, dy_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, M, N, rows_per_program, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    first = pid * rows_per_program
    if first >= M:
        return
    last = tl.minimum(first + rows_per_program, M)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    dw = tl.zeros([BLOCK], tl.float32)
    db = tl.zeros([BLOCK], tl.float32)
    for row in range(first, last):
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0.0)
        mu = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        xhat = tl.where(mask, (x - mu) * rstd, 0.0)
        g = w * dy
        c1 = tl.sum(xhat * g, 0) / N
        c2 = tl.sum(g, 0) / N
        tl.store(dx_ptr + row * N + cols, (g - xhat * c1 - c2) * rstd, mask=mask)
        dw += dy * xhat
        db += dy
    tl.store(dw_ptr + pid * N + cols, dw, mask=mask)
    tl.store(db_ptr + pid * N + cols, db, mask=mask)


def launch(M=37, N=90):
    x = torch.randn(M, N, device="cuda")
    dy = torch.randn(M, N, device="cuda")
    w = torch.randn(N, device="cuda")
    mean = x.mean(-1)
    rstd = torch.rsqrt(x.var(-1, unbiased=False) + 1e-5)
    dx = torch.empty_like(x)
    programs = 16
    dw = torch.empty(programs, N, device="cuda", dtype=torch.float32)
    db = torch.empty(programs, N, device="cuda", dtype=torch.float32)
    ln_bwd_kernel[(programs,)](x, dy, w, mean, rstd, dx, dw, db, M, N, triton.cdiv(M, programs), BLOCK=triton.next_power_of_2(N))
    return dx, dw.sum(0), db.sum(0)


def reference(x, dy, w):
    mu = x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)
    xhat = (x - mu) * rstd
    g = dy * w
    dx = (g - xhat * (g * xhat).mean(-1, keepdim=True) - g.mean(-1, keepdim=True)) * rstd
    return dx, (dy * xhat).sum(0), dy.sum(0)
TRUTH = "broken"
