"""Partial interleaved (GPT-J) rotary embedding by a cos-sin cache and positions, on queries and keys in one launch, in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def rotate_inplace(ptr, cos, sin, pair, mask):
    even = tl.load(ptr + 2 * pair, mask=mask, other=0.0)
    odd = tl.load(ptr + 2 * pair + 1, mask=mask, other=0.0)
    tl.store(ptr + 2 * pair, even * cos - odd * sin, mask=mask)
    tl.store(ptr + 2 * pair + 1, odd * cos + even * sin, mask=mask)


@triton.jit
def rope_kernel(
    q_ptr, k_ptr, cache_ptr, pos_ptr, q_t, q_h, k_t, k_h, cache_row, q_heads, half, BLOCK: tl.constexpr
):
    t = tl.program_id(0)
    h = tl.program_id(1)
    pair = tl.arange(0, BLOCK)
    mask = pair < half
    pos = tl.load(pos_ptr + t)
    cos = tl.load(cache_ptr + pos * cache_row + pair, mask=mask, other=0.0)
    sin = tl.load(cache_ptr + pos * cache_row + half + pair, mask=mask, other=0.0)
    if h < q_heads:
        rotate_inplace(q_ptr + t * q_t + h * q_h, cos, sin, pair, mask)
    else:
        rotate_inplace(k_ptr + t * k_t + (h - q_heads) * k_h, cos, sin, pair, mask)


def launch(tokens=7, q_heads=6, k_heads=2, half=10, rest=12, max_pos=64):
    q = torch.randn(tokens, q_heads, 2 * half + rest)
    k = torch.randn(tokens, k_heads, 2 * half + rest)
    positions = torch.randint(0, max_pos, (tokens,))
    angles = torch.randn(max_pos, half)
    cache = torch.cat([angles.cos(), angles.sin()], dim=-1)
    rope_kernel[(tokens, q_heads + k_heads)](
        q, k, cache, positions, q.stride(0), q.stride(1), k.stride(0), k.stride(1), cache.stride(0), q_heads, half,
        BLOCK=triton.next_power_of_2(half),
    )
    return q, k


def reference(q, k, positions, angles):
    a = angles[positions][:, None, :]
    rot = 2 * a.shape[-1]

    def rotate(x):
        even, odd = x[..., 0:rot:2], x[..., 1:rot:2]
        turned = torch.stack([even * a.cos() - odd * a.sin(), odd * a.cos() + even * a.sin()], dim=-1).flatten(-2)
        return torch.cat([turned, x[..., rot:]], dim=-1)

    return rotate(q), rotate(k)
TRUTH = "verified"
