"""Fused residual add and RMS norm, both written in place as serving engines do."""

import torch
import triton
import triton.language as tl

EPS = 1e-6


@triton.jit
def _fused_add_rms_norm_kernel(
    X, RESIDUAL, W, x_stride, r_stride, n_cols, eps,
    BLOCK_SIZE: tl.constexpr,
):
    row_idx = tl.program_id(0)
    X += row_idx * x_stride
    RESIDUAL += row_idx * r_stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols

    x = tl.load(X + col_offsets, mask=mask, other=0)
    r = tl.load(RESIDUAL + col_offsets, mask=mask, other=0)
    h = x + r
    tl.store(RESIDUAL + col_offsets, h, mask=mask)

    mean_square = tl.sum(h * h, axis=0) / n_cols
    rstd = tl.rsqrt(mean_square + eps)
    w = tl.load(W + col_offsets, mask=mask, other=0)
    tl.store(X + col_offsets, h * rstd * w, mask=mask)


def fused_add_rms_norm(x, residual, weight, eps):
    shape = x.shape
    x = x.view(-1, shape[-1])
    residual = residual.view(-1, shape[-1])
    n_rows, n_cols = x.shape
    _fused_add_rms_norm_kernel[(n_rows,)](
        x, residual, weight, x.stride(0), residual.stride(0), n_cols, eps,
        BLOCK_SIZE=triton.next_power_of_2(n_cols), num_warps=4,
    )


def launch(M=5, N=50):
    x = torch.randn(M, N, device="cuda")
    residual = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    fused_add_rms_norm(x, residual, weight, EPS)
    return x, residual


def reference(x, residual, weight):
    h = x + residual
    y = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + EPS) * weight
    return y, h


TRUTH = "verified"
