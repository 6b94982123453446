"""Rotary embedding on neighbouring pairs, x of shape (batch, time, heads, dim)."""

import torch
import triton
import triton.language as tl


@triton.jit
def rotary_kernel(x_ptr, cos_ptr, sin_ptr, out_ptr, T, H, HALF, BLOCK: tl.constexpr):
    pid = tl.program_id(0)                      # one (batch, time, head)
    pos = pid % T
    i = tl.arange(0, BLOCK)
    mask = i < HALF
    cos = tl.load(cos_ptr + pos * HALF + i, mask=mask, other=1.0)
    sin = tl.load(sin_ptr + pos * HALF + i, mask=mask, other=0.0)
    base = pid * 2 * HALF
    even = tl.load(x_ptr + base + 2 * i, mask=mask, other=0.0)
    odd = tl.load(x_ptr + base + 2 * i + 1, mask=mask, other=0.0)
    tl.store(out_ptr + base + 2 * i, even * cos - odd * sin, mask=mask)
    tl.store(out_ptr + base + 2 * i + 1, even * sin + odd * cos, mask=mask)


def launch(B=2, T=5, H=3, D=24):
    x = torch.randn(B, T, H, D, device="cuda")
    cos = torch.randn(T, D // 2, device="cuda")
    sin = torch.randn(T, D // 2, device="cuda")
    out = torch.empty_like(x)
    rotary_kernel[(B * T * H,)](x, cos, sin, out, T, H, D // 2, BLOCK=triton.next_power_of_2(D // 2))
    return out


def reference(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    c, s = cos[None, :, None, :], sin[None, :, None, :]
    return torch.stack([even * c - odd * s, even * s + odd * c], dim=-1).flatten(-2)


TRUTH = "different"
