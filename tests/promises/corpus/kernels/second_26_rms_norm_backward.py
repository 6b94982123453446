"""Backward of RMS norm: dx row by row, dw by atomics."""

import torch
import triton
import triton.language as tl

EPS = 1e-6


@triton.jit
def _rms_norm_backward(
    dY_ptr, dY_row_stride, X_ptr, X_row_stride, W_ptr, dX_ptr, dW_ptr, n_cols, eps,
    BLOCK_SIZE: tl.constexpr,
):
    row_idx = tl.program_id(0)
    col = tl.arange(0, BLOCK_SIZE)
    mask = col < n_cols
    dy = tl.load(dY_ptr + row_idx * dY_row_stride + col, mask=mask, other=0.0)
    x = tl.load(X_ptr + row_idx * X_row_stride + col, mask=mask, other=0.0)
    w = tl.load(W_ptr + col, mask=mask, other=0.0)

    inv_rms = tl.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    normed = x * inv_rms
    dy_w = dy * w
    mean_dot = tl.sum(dy_w * normed, axis=0) / BLOCK_SIZE
    dx = inv_rms * (dy_w - normed * mean_dot)
    tl.store(dX_ptr + row_idx * X_row_stride + col, dx, mask=mask)
    tl.atomic_add(dW_ptr + col, dy * normed, mask=mask)


def launch(M=6, N=50):
    dy = torch.randn(M, N, device="cuda")
    x = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    dx = torch.empty_like(x)
    dw = torch.zeros_like(weight)
    _rms_norm_backward[(M,)](
        dy, dy.stride(0), x, x.stride(0), weight, dx, dw, N, EPS, BLOCK_SIZE=triton.next_power_of_2(N)
    )
    return dx, dw


def reference(dy, x, weight):
    inv_rms = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS)
    normed = x * inv_rms
    dy_w = dy * weight
    dx = inv_rms * (dy_w - normed * (dy_w * normed).mean(-1, keepdim=True))
    return dx, (dy * normed).sum(0)


TRUTH = "different"
