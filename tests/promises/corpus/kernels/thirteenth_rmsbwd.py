"""rmsbwd, as somebody wrote it who knew the documentation alone."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _rms_norm_backward_kernel(
    dY_ptr,
    dY_row_stride,
    dX_ptr,
    dX_row_stride,
    X_ptr,
    X_row_stride,
    W_ptr,
    RSTD_ptr,
    dW_ptr,
    dW_row_stride,
    n_rows,
    n_cols,
    rows_per_program,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    row_start = pid * rows_per_program
    row_end = min((pid + 1) * rows_per_program, n_rows)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols

    dw = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    w = tl.load(W_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    for row in range(row_start, row_end):
        dy = tl.load(dY_ptr + row * dY_row_stride + cols, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(X_ptr + row * X_row_stride + cols, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(RSTD_ptr + row)
        m = dy * w
        dx = rstd * m - rstd * rstd * rstd * x * (tl.sum(m * x, axis=0) / n_cols)
        dw += dy * x * rstd
        tl.store(dX_ptr + row * dX_row_stride + cols, dx, mask=mask)
    tl.store(dW_ptr + pid * dW_row_stride + cols, dw, mask=mask)


def rms_norm_backward(dy, x, w, rstd):
    n_rows, n_cols = dy.shape
    sm_count = torch.cuda.get_device_properties(x.device).multi_processor_count
    dx = torch.empty_like(dy)
    dw_partial = torch.empty((sm_count, n_cols), dtype=torch.float32, device=w.device)
    rows_per_program = math.ceil(n_rows / sm_count)
    _rms_norm_backward_kernel[(sm_count,)](
        dy, dy.stride(0), dx, dx.stride(0), x, x.stride(0), w, rstd, dw_partial, dw_partial.stride(0),
        n_rows, n_cols, rows_per_program, BLOCK_SIZE=triton.next_power_of_2(n_cols),
    )
    return dx, dw_partial.sum(dim=0).to(w.dtype)


def launch(rows=300, hidden=50):
    x = torch.randn(rows, hidden, device="cuda")
    w = torch.randn(hidden, device="cuda")
    dy = torch.randn(rows, hidden, device="cuda")
    rstd = torch.rsqrt(x.pow(2).mean(-1) + 1e-6)
    return rms_norm_backward(dy, x, w, rstd)


def reference(x, w, dy):
    rstd = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    xhat = x * rstd
    g = dy * w
    dx = rstd * (g - xhat * (g * xhat).mean(-1, keepdim=True))
    return dx, (dy * xhat).sum(0)


TRUTH = "verified"
