import math

import torch
import triton
import triton.language as tl


@triton.jit
def _rms_norm_forward_kernel(
    Y_ptr, Y_row_stride, X_ptr, X_row_stride, W_ptr, RSTD_ptr,
    n_cols, eps, offset, BLOCK_SIZE: tl.constexpr,
):
    row_idx = tl.program_id(0).to(tl.int64)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    X_row = tl.load(X_ptr + row_idx * X_row_stride + col_offsets, mask=mask, other=0)
    W_row = tl.load(W_ptr + col_offsets, mask=mask, other=0)
    mean_square = tl.sum(X_row * X_row, axis=0) / n_cols
    rstd = tl.rsqrt(mean_square + eps)
    tl.store(RSTD_ptr + row_idx, rstd)
    tl.store(Y_ptr + row_idx * Y_row_stride + col_offsets, X_row * rstd * (offset + W_row), mask=mask)


@triton.jit
def _rms_norm_backward_kernel(
    dY_ptr, dY_row_stride, dX_ptr, dX_row_stride, X_ptr, X_row_stride, W_ptr, RSTD_ptr,
    dW_ptr, dW_row_stride, n_rows, n_cols, offset, rows_per_program,
    BLOCK_SIZE: tl.constexpr,
):
    row_block_id = tl.program_id(0).to(tl.int64)
    row_start = row_block_id * rows_per_program
    row_end = min((row_block_id + 1) * rows_per_program, n_rows)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols

    dW_row = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    W_row = tl.load(W_ptr + col_offsets, mask=mask, other=0.0) + offset
    for row_idx in range(row_start, row_end):
        dY_row = tl.load(dY_ptr + row_idx * dY_row_stride + col_offsets, mask=mask, other=0.0)
        X_row = tl.load(X_ptr + row_idx * X_row_stride + col_offsets, mask=mask, other=0.0)
        rstd_row = tl.load(RSTD_ptr + row_idx)
        m = dY_row * W_row
        dX_row = rstd_row * m
        dX_row += rstd_row * (-(1 / n_cols) * rstd_row * rstd_row * tl.sum(m * X_row, axis=0) * X_row)
        dW_row += dY_row * (X_row * rstd_row)
        tl.store(dX_ptr + row_idx * dX_row_stride + col_offsets, dX_row, mask=mask)
    tl.store(dW_ptr + row_block_id * dW_row_stride + col_offsets, dW_row, mask=mask)


def rms_norm_forward(X, W, eps, offset):
    n_rows, n_cols = X.shape
    Y = torch.empty_like(X)
    RSTD = torch.empty(n_rows, dtype=torch.float32)
    _rms_norm_forward_kernel[(n_rows,)](
        Y, Y.stride(0), X, X.stride(0), W, RSTD, n_cols, eps, offset,
        BLOCK_SIZE=triton.next_power_of_2(n_cols))
    return Y, RSTD


def rms_norm_backward(dY, X, W, RSTD, offset):
    n_rows, n_cols = dY.shape
    programs = 4
    _dW = torch.empty((programs, n_cols), dtype=torch.float32)
    dX = torch.empty_like(dY)
    rows_per_program = math.ceil(n_rows / programs)
    _rms_norm_backward_kernel[(programs,)](
        dY, dY.stride(0), dX, dX.stride(0), X, X.stride(0), W, RSTD,
        _dW, _dW.stride(0), n_rows, n_cols, offset, rows_per_program,
        BLOCK_SIZE=triton.next_power_of_2(n_cols))
    return dX, _dW.sum(dim=0)


def launch(rows=14, hidden=48):
    X = torch.randn(rows, hidden)
    W = torch.randn(hidden)
    dY = torch.randn(rows, hidden)
    Y, RSTD = rms_norm_forward(X, W, 1e-6, 1.0)
    dX, dW = rms_norm_backward(dY, X, W, RSTD, 1.0)
    return Y, dX, dW


def reference(X, W, dY):
    n = X.shape[1]
    r = torch.rsqrt(X.pow(2).mean(-1, keepdim=True) + 1e-6)
    xhat = X * r
    wdy = dY * (1.0 + W)
    dX = r * (wdy - xhat * (wdy * xhat).sum(-1, keepdim=True) / n)
    return xhat * (1.0 + W), dX, (dY * xhat).sum(0)


TRUTH = "verified"
