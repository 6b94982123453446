"""Gradients of a query norm: dx of each head, and dw gathered in a few rows that programs share without a lock."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def qk_norm_bwd_kernel(DX, DY, DW, X, W, Rstd, stride, N, GROUP_SIZE_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0.0)
    dy = tl.load(DY + row * stride + cols, mask=mask, other=0.0)
    w = tl.load(W + cols, mask=mask, other=0.0)
    rstd = tl.load(Rstd + row)
    xhat = x * rstd
    wdy = w * dy
    c = tl.sum(xhat * wdy, axis=0) / N
    tl.store(DX + row * stride + cols, (wdy - xhat * c) * rstd, mask=mask)
    slot = row % GROUP_SIZE_M
    dw_ptrs = DW + slot * N + cols
    partial = dy * xhat
    partial += tl.load(dw_ptrs, mask=mask, other=0.0)
    tl.store(dw_ptrs, partial, mask=mask)


def launch():
    tokens, heads, dim, group = 10, 4, 48, 8
    x = torch.randn(tokens * heads, dim)
    dy = torch.randn(tokens * heads, dim)
    w = torch.randn(dim)
    rstd = torch.rsqrt(x.square().mean(-1) + 1e-6)
    dx = torch.empty_like(x)
    dw_parts = torch.zeros(group, dim)
    qk_norm_bwd_kernel[(tokens * heads,)](dx, dy, dw_parts, x, w, rstd, x.stride(0), dim, GROUP_SIZE_M=group, BLOCK_N=triton.next_power_of_2(dim))
    dw = dw_parts.sum(0)
    return dx, dw


def reference(x, dy, w, rstd):
    xhat = x * rstd[:, None]
    wdy = w * dy
    dx = (wdy - xhat * (xhat * wdy).mean(-1, keepdim=True)) * rstd[:, None]
    return dx, (dy * xhat).sum(0)
