"""Backward of half-split RoPE with cosines and sines from a cache that positions index (the rotation back), in place on dq; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def rope_backward_kernel(dq_ptr, cos_ptr, sin_ptr, pos_ptr, stride_t, stride_h, n_heads, half, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    h = tl.program_id(1)
    pos = tl.load(pos_ptr + t)
    i = tl.arange(0, BLOCK)
    mask = i < half
    cos = tl.load(cos_ptr + pos * half + i, mask=mask, other=0.0)
    sin = tl.load(sin_ptr + pos * half + i, mask=mask, other=0.0)
    base = dq_ptr + t * stride_t + h * stride_h
    g1 = tl.load(base + i, mask=mask, other=0.0)
    g2 = tl.load(base + half + i, mask=mask, other=0.0)
    tl.store(base + i, g1 * cos + g2 * sin, mask=mask)
    tl.store(base + half + i, g2 * cos - g1 * sin, mask=mask)


def rope_backward(dq, cos, sin, positions):
    T, H, D = dq.shape
    half = D // 2
    rope_backward_kernel[(T, H)](dq, cos, sin, positions, dq.stride(0), dq.stride(1), H, half,
                                 BLOCK=triton.next_power_of_2(half))
    return dq


def launch(T=6, H=3, half=20, L=50):
    dq = torch.randn(T, H, 2 * half)
    angles = torch.arange(L)[:, None] * torch.rand(half)[None, :]
    cos, sin = angles.cos(), angles.sin()
    positions = torch.randint(0, L, (T,))
    return rope_backward(dq, cos, sin, positions)


def reference(dq, cos, sin, positions):
    c, s = cos[positions][:, None, :], sin[positions][:, None, :]
    g1, g2 = dq.chunk(2, dim=-1)
    return torch.cat([g1 * c + g2 * s, g2 * c - g1 * s], dim=-1)
