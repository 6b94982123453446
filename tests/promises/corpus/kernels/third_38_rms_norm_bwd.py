"""Backward of RMS norm: each program takes some rows and keeps its own sum for dW, which the host adds up (Liger, Unsloth)."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _rms_norm_backward_kernel(
    dY_ptr, dX_ptr, X_ptr, W_ptr, RSTD_ptr, dW_ptr, row_stride, dW_row_stride,
    n_rows, n_cols, rows_per_program, BLOCK_SIZE: tl.constexpr,
):
    row_block_id = tl.program_id(0)
    row_start = row_block_id * rows_per_program
    row_end = min((row_block_id + 1) * rows_per_program, n_rows)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    dW_row = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    W_row = tl.load(W_ptr + col_offsets, mask=mask, other=0.0)
    for row_idx in range(row_start, row_end):
        dY_row = tl.load(dY_ptr + row_idx * row_stride + col_offsets, mask=mask, other=0.0)
        X_row = tl.load(X_ptr + row_idx * row_stride + col_offsets, mask=mask, other=0.0)
        rstd = tl.load(RSTD_ptr + row_idx)
        m = dY_row * W_row
        dX_row = rstd * m
        dX_row += rstd * (-(1 / n_cols) * rstd * rstd * tl.sum(m * X_row, axis=0) * X_row)
        tl.store(dX_ptr + row_idx * row_stride + col_offsets, dX_row, mask=mask)
        dW_row += dY_row * (X_row * rstd)
    tl.store(dW_ptr + row_block_id * dW_row_stride + col_offsets, dW_row, mask=mask)


PROGRAMS = 4


def launch(dY, X, W, rstd):
    n_rows, n_cols = X.shape
    dX = torch.empty_like(dY)
    partial = torch.empty((PROGRAMS, n_cols), dtype=torch.float32, device=W.device)
    _rms_norm_backward_kernel[(PROGRAMS,)](
        dY, dX, X, W, rstd, partial, X.stride(0), partial.stride(0), n_rows, n_cols, triton.cdiv(n_rows, PROGRAMS),
        BLOCK_SIZE=triton.next_power_of_2(n_cols))
    return dX, partial.sum(dim=0).to(W.dtype)


def reference(dY, X, W, rstd):
    r = rstd[:, None]
    m = dY * W
    dX = r * m - r ** 3 * X * (m * X).mean(dim=-1, keepdim=True)
    return dX, (dY * X * r).sum(dim=0)


def inputs(rows=10, cols=40):
    X = torch.randn(rows, cols)
    return torch.randn(rows, cols), X, torch.randn(cols), torch.rsqrt(X.square().mean(-1) + 1e-6)
