"""Rotary embedding in place of q, halves, as flash-attention writes it."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def rotary_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, T, H, D, HALF: tl.constexpr):
    t = tl.program_id(0)
    h = tl.program_id(1)
    i = tl.arange(0, HALF)
    keep = i < D // 2
    row = (t * H + h) * D
    cos = tl.load(cos_ptr + t * (D // 2) + i, mask=keep, other=1.0)
    sin = tl.load(sin_ptr + t * (D // 2) + i, mask=keep, other=0.0)
    a = tl.load(x_ptr + row + i, mask=keep, other=0.0)
    b = tl.load(x_ptr + row + D // 2 + i, mask=keep, other=0.0)
    tl.store(out_ptr + row + i, a * cos - b * sin, mask=keep)
    tl.store(out_ptr + row + D // 2 + i, b * cos + a * sin, mask=keep)


def launch(T=6, H=3, D=20):
    x = torch.randn(T, H, D, device="cuda")
    cos = torch.randn(T, D // 2, device="cuda")
    sin = torch.randn(T, D // 2, device="cuda")
    out = torch.empty_like(x)
    rotary_kernel[(T, H)](x, cos, sin, out, T, H, D, HALF=triton.next_power_of_2(D // 2))
    return out


def reference(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    c, s = cos[:, None, :], sin[:, None, :]
    return torch.cat([a * c - b * s, b * c + a * s], dim=-1)
