"""Interleaved rotary (GPT-J). The tables have head_dim / 2 columns."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def rope_gptj(x_ptr, cos_ptr, sin_ptr, o_ptr, n_heads, head_dim, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    h = tl.program_id(1)
    i = tl.arange(0, BLOCK)
    half = head_dim // 2
    m = i < half
    row = (t * n_heads + h) * head_dim
    even = tl.load(x_ptr + row + 2 * i, mask=m)
    odd = tl.load(x_ptr + row + 2 * i + 1, mask=m)
    c = tl.load(cos_ptr + t * head_dim + i, mask=m)
    s = tl.load(sin_ptr + t * head_dim + i, mask=m)
    tl.store(o_ptr + row + 2 * i, even * c - odd * s, mask=m)
    tl.store(o_ptr + row + 2 * i + 1, even * s + odd * c, mask=m)


def launch(x, cos, sin):
    T, H, D = x.shape
    out = torch.empty_like(x)
    rope_gptj[(T, H)](x, cos, sin, out, H, D, BLOCK=triton.next_power_of_2(D // 2))
    return out


def reference(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    c, s = cos[:, None, :], sin[:, None, :]
    return torch.stack((even * c - odd * s, even * s + odd * c), dim=-1).flatten(-2)


def inputs(T=8, H=3, D=12):
    a = torch.outer(torch.arange(T).float(), 1.0 / (100 ** (torch.arange(0, D, 2).float() / D)))
    return torch.randn(T, H, D), a.cos(), a.sin()
