"""Backward of dynamic tanh: dx for each element, and partial sums of alpha, gamma and beta for each group of rows."""
import math

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def dyt_bwd_kernel(
    DY, DX, DA, DG, DB, X, Alpha, Gamma, n_rows, n_cols, rows_per_program, BLOCK_N: tl.constexpr,
):
    col = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = col < n_cols
    part = tl.program_id(1)
    row_start = part * rows_per_program
    row_end = min(row_start + rows_per_program, n_rows)
    alpha = tl.load(Alpha)
    gamma = tl.load(Gamma + col, mask=mask, other=0.0)
    da = tl.zeros([BLOCK_N], dtype=tl.float32)
    dg = tl.zeros([BLOCK_N], dtype=tl.float32)
    db = tl.zeros([BLOCK_N], dtype=tl.float32)
    for row in range(row_start, row_end):
        x = tl.load(X + row * n_cols + col, mask=mask, other=0.0)
        dy = tl.load(DY + row * n_cols + col, mask=mask, other=0.0)
        t = _tanh(alpha * x)
        db += dy
        dg += dy * t
        tmp = (1.0 - t * t) * dy * gamma
        da += x * tmp
        tl.store(DX + row * n_cols + col, alpha * tmp, mask=mask)
    tl.store(DA + part * n_cols + col, da, mask=mask)
    tl.store(DG + part * n_cols + col, dg, mask=mask)
    tl.store(DB + part * n_cols + col, db, mask=mask)


def launch():
    rows, cols, parts = 30, 200, 4
    x = torch.randn(rows, cols)
    dy = torch.randn(rows, cols)
    alpha = torch.tensor([0.7])
    gamma = torch.randn(cols)
    dx = torch.empty_like(x)
    da = torch.zeros(parts, cols)
    dg = torch.zeros(parts, cols)
    db = torch.zeros(parts, cols)
    rows_per_program = math.ceil(rows / parts)
    grid = (triton.cdiv(cols, 64), parts)
    dyt_bwd_kernel[grid](dy, dx, da, dg, db, x, alpha, gamma, rows, cols, rows_per_program, BLOCK_N=64)
    return dx, da.sum(), dg.sum(0), db.sum(0)


def reference(x, dy, alpha, gamma):
    t = torch.tanh(alpha * x)
    inner = (1 - t * t) * dy * gamma
    return alpha * inner, (x * inner).sum(), (dy * t).sum(0), dy.sum(0)
