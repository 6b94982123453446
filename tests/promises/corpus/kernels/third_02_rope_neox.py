"""Rotary embedding in the neox layout with gathered positions, as serving engines do it."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def rope_kernel(
    q_ptr, out_ptr, cache_ptr, pos_ptr,
    stride_tok, stride_head,
    o_stride_tok, o_stride_head,
    half: tl.constexpr, HALF_POW2: tl.constexpr,
):
    tok = tl.program_id(0)
    head = tl.program_id(1)
    pos = tl.load(pos_ptr + tok)
    d = tl.arange(0, HALF_POW2)
    m = d < half
    cos = tl.load(cache_ptr + pos * (2 * half) + d, mask=m, other=0.0)
    sin = tl.load(cache_ptr + pos * (2 * half) + half + d, mask=m, other=0.0)
    base = q_ptr + tok * stride_tok + head * stride_head
    x1 = tl.load(base + d, mask=m, other=0.0)
    x2 = tl.load(base + half + d, mask=m, other=0.0)
    obase = out_ptr + tok * o_stride_tok + head * o_stride_head
    tl.store(obase + d, x1 * cos - x2 * sin, mask=m)
    tl.store(obase + half + d, x2 * cos + x1 * sin, mask=m)


def launch(q, cos_sin_cache, positions):
    num_tokens, num_heads, head_dim = q.shape
    out = torch.empty_like(q)
    half = head_dim // 2
    rope_kernel[(num_tokens, num_heads)](
        q, out, cos_sin_cache, positions,
        q.stride(0), q.stride(1), out.stride(0), out.stride(1),
        half, triton.next_power_of_2(half),
    )
    return out


def reference(q, cos_sin_cache, positions):
    cos, sin = cos_sin_cache[positions].chunk(2, dim=-1)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    x1, x2 = q.chunk(2, dim=-1)
    return torch.cat((x1 * cos - x2 * sin, x2 * cos + x1 * sin), dim=-1)


def inputs(tokens=9, heads=3, head_dim=24, max_pos=50):
    inv = 1.0 / (10000 ** (torch.arange(0, head_dim, 2).float() / head_dim))
    f = torch.outer(torch.arange(max_pos).float(), inv)
    return torch.randn(tokens, heads, head_dim), torch.cat((f.cos(), f.sin()), -1), torch.randint(0, max_pos, (tokens,))
