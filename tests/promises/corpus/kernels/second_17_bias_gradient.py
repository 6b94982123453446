"""Gradient of a bias: the column sums of dy, by tiles of rows and columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def bias_grad_kernel(dy_ptr, db_ptr, M, N, stride_m, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    dy = tl.load(dy_ptr + rows[:, None] * stride_m + cols[None, :], mask=mask, other=0.0)
    part = tl.sum(dy, axis=0)
    db = tl.load(db_ptr + cols, mask=cols < N, other=0.0)
    tl.store(db_ptr + cols, db + part, mask=cols < N)


def bias_grad(dy):
    M, N = dy.shape
    db = torch.zeros(N, device=dy.device, dtype=dy.dtype)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))
    bias_grad_kernel[grid](dy, db, M, N, dy.stride(0), BLOCK_M=16, BLOCK_N=32)
    return db


def launch(M=50, N=45):
    dy = torch.randn(M, N, device="cuda")
    return bias_grad(dy)


def reference(dy):
    return dy.sum(0)


TRUTH = "different"
