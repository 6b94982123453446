"""Training: LayerNorm backward: a fixed number of programs each sums dw and db over its run of rows, a second kernel reduces the partial sums."""
import torch
import triton
import triton.language as tl


@triton.jit
def ln_bwd_kernel(
    DY, X, W, Mean, Rstd, DX, DW_part, DB_part,
    stride, M, N, rows_per_program, BLOCK_N: tl.constexpr,
):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    w = tl.load(W + cols, mask=mask, other=0.0)
    dw = tl.zeros([BLOCK_N], dtype=tl.float32)
    db = tl.zeros([BLOCK_N], dtype=tl.float32)
    row_start = pid * rows_per_program
    row_end = tl.minimum(row_start + rows_per_program, M)
    for row in range(row_start, row_end):
        x = tl.load(X + row * stride + cols, mask=mask, other=0.0)
        dy = tl.load(DY + row * stride + cols, mask=mask, other=0.0)
        mean = tl.load(Mean + row)
        rstd = tl.load(Rstd + row)
        xhat = tl.where(mask, (x - mean) * rstd, 0.0)
        wdy = w * dy
        c1 = tl.sum(xhat * wdy, axis=0) / N
        c2 = tl.sum(wdy, axis=0) / N
        tl.store(DX + row * stride + cols, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
        dw += dy * xhat
        db += dy
    tl.store(DW_part + pid * N + cols, dw, mask=mask)
    tl.store(DB_part + pid * N + cols, db, mask=mask)


@triton.jit
def ln_reduce_kernel(DW_part, DB_part, DW, DB, P, N, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dw = tl.zeros((BLOCK_P, BLOCK_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_P, BLOCK_N), dtype=tl.float32)
    for i in range(0, P, BLOCK_P):
        rows = i + tl.arange(0, BLOCK_P)
        mask = (rows[:, None] < P) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(DW_part + offs, mask=mask, other=0.0)
        db += tl.load(DB_part + offs, mask=mask, other=0.0)
    tl.store(DW + cols, tl.sum(dw, axis=0), mask=cols < N)
    tl.store(DB + cols, tl.sum(db, axis=0), mask=cols < N)


def launch(M=22, N=70, programs=6):
    x = torch.randn(M, N, device="cuda")
    dy = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    mean = x.mean(-1)
    rstd = torch.rsqrt(x.var(-1, unbiased=False) + 1e-5)
    dx = torch.empty_like(x)
    dw_part = torch.empty(programs, N, device="cuda")
    db_part = torch.empty(programs, N, device="cuda")
    dw, db = torch.empty_like(weight), torch.empty_like(weight)
    ln_bwd_kernel[(programs,)](
        dy, x, weight, mean, rstd, dx, dw_part, db_part,
        x.stride(0), M, N, triton.cdiv(M, programs), BLOCK_N=triton.next_power_of_2(N),
    )
    ln_reduce_kernel[(triton.cdiv(N, 32),)](dw_part, db_part, dw, db, programs, N, BLOCK_P=4, BLOCK_N=32)
    return dx, dw, db


def reference(x, dy, weight):
    mean = x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5)
    xhat = (x - mean) * rstd
    wdy = weight * dy
    dx = rstd * (wdy - wdy.mean(-1, keepdim=True) - xhat * (xhat * wdy).mean(-1, keepdim=True))
    return dx, (dy * xhat).sum(0), dy.sum(0)

TRUTH = "verified"
