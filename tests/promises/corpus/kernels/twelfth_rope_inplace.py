"""NeoX-style rotary embedding in place: each program loads both halves of its head before it stores either, with cos and sin by position."""
import torch
import triton
import triton.language as tl


@triton.jit
def rope_kernel(q_ptr, cos_ptr, sin_ptr, pos_ptr, stride_t, stride_h, half, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    offs = tl.arange(0, BLOCK)
    mask = offs < half
    pos = tl.load(pos_ptr + token)
    cos = tl.load(cos_ptr + pos * half + offs, mask=mask, other=0.0)
    sin = tl.load(sin_ptr + pos * half + offs, mask=mask, other=0.0)
    base = q_ptr + token * stride_t + head * stride_h
    q1 = tl.load(base + offs, mask=mask, other=0.0)
    q2 = tl.load(base + half + offs, mask=mask, other=0.0)
    tl.store(base + offs, q1 * cos - q2 * sin, mask=mask)
    tl.store(base + half + offs, q2 * cos + q1 * sin, mask=mask)


def launch(tokens=10, heads=3, half=24, max_pos=50):
    q = torch.randn(tokens, heads, 2 * half, device="cuda")
    cos = torch.randn(max_pos, half, device="cuda")
    sin = torch.randn(max_pos, half, device="cuda")
    positions = torch.randint(0, max_pos, (tokens,), device="cuda")
    rope_kernel[(tokens, heads)](q, cos, sin, positions, q.stride(0), q.stride(1), half, BLOCK=triton.next_power_of_2(half))
    return q


def reference(q, cos, sin, positions):
    q1, q2 = q.chunk(2, dim=-1)
    c = cos[positions][:, None, :]
    s = sin[positions][:, None, :]
    return torch.cat([q1 * c - q2 * s, q2 * c + q1 * s], dim=-1)


TRUTH = "verified"
