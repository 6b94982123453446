import torch
import triton
import triton.language as tl


@triton.jit
def k_dropout_residual(X, RES, BIAS, U, OUT, KEPT, n_rows, n_cols, p,
                       BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ok = (rm[:, None] < n_rows) & (rn[None, :] < n_cols)
    at = rm[:, None] * n_cols + rn[None, :]
    x = tl.load(X + at, mask=ok)
    b = tl.load(BIAS + rn, mask=rn < n_cols)
    r = tl.load(RES + at, mask=ok)
    u = tl.load(U + at, mask=ok)
    keep = u > p
    y = tl.where(keep, (x + b[None, :]) / (1 - p), 0.0) + r
    tl.store(OUT + at, y, mask=ok)
    tl.store(KEPT + at, keep.to(tl.int8), mask=ok)


@triton.jit
def k_dropout_bwd(DY, KEPT, DX, total, p, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dy = tl.load(DY + i, mask=i < total)
    kept = tl.load(KEPT + i, mask=i < total)
    tl.store(DX + i, tl.where(kept != 0, dy / (1 - p), 0.0), mask=i < total)


def launch(rows=20, cols=45):
    x = torch.randn(rows, cols)
    residual = torch.randn(rows, cols)
    bias = torch.randn(cols)
    noise = torch.rand(rows, cols)
    dy = torch.randn(rows, cols)
    y, dx = torch.empty_like(x), torch.empty_like(x)
    kept = torch.empty(rows, cols, dtype=torch.int8)
    k_dropout_residual[(triton.cdiv(rows, 16), triton.cdiv(cols, 32))](
        x, residual, bias, noise, y, kept, rows, cols, 0.25, BLOCK_M=16, BLOCK_N=32)
    k_dropout_bwd[(triton.cdiv(rows * cols, 128),)](dy, kept, dx, rows * cols, 0.25, BLOCK=128)
    return y, dx


def reference(x, residual, bias, noise, dy):
    m = (noise > 0.25).to(x.dtype) / 0.75
    return (x + bias) * m + residual, dy * m


TRUTH = "verified"
