"""Neox rotary embedding in place on q and k (grouped heads), cos/sin looked up by position in one packed cache, last part of the head unrotated."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rope_kernel(
    q_ptr, k_ptr, pos_ptr, cache_ptr,
    q_stride_t, q_stride_h, k_stride_t, k_stride_h, cache_stride,
    n_q_heads, n_k_heads,
    HALF: tl.constexpr, BLOCK_H: tl.constexpr,
):
    tok = tl.program_id(0)
    pos = tl.load(pos_ptr + tok)
    d = tl.arange(0, HALF)
    cos = tl.load(cache_ptr + pos * cache_stride + d)[None, :]
    sin = tl.load(cache_ptr + pos * cache_stride + HALF + d)[None, :]

    heads = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    q_off = tok * q_stride_t + heads[:, None] * q_stride_h + d[None, :]
    q_mask = heads[:, None] < n_q_heads
    q1 = tl.load(q_ptr + q_off, mask=q_mask, other=0.0)
    q2 = tl.load(q_ptr + q_off + HALF, mask=q_mask, other=0.0)
    tl.store(q_ptr + q_off, q1 * cos - q2 * sin, mask=q_mask)
    tl.store(q_ptr + q_off + HALF, q2 * cos + q1 * sin, mask=q_mask)

    k_off = tok * k_stride_t + heads[:, None] * k_stride_h + d[None, :]
    k_mask = heads[:, None] < n_k_heads
    k1 = tl.load(k_ptr + k_off, mask=k_mask, other=0.0)
    k2 = tl.load(k_ptr + k_off + HALF, mask=k_mask, other=0.0)
    tl.store(k_ptr + k_off, k1 * cos - k2 * sin, mask=k_mask)
    tl.store(k_ptr + k_off + HALF, k2 * cos + k1 * sin, mask=k_mask)


def launch(tokens=5, n_q=6, n_k=2, max_pos=32):
    head_dim, rot_dim = 24, 16
    q = torch.randn(tokens, n_q, head_dim, device="cuda")
    k = torch.randn(tokens, n_k, head_dim, device="cuda")
    cos_sin = torch.randn(max_pos, rot_dim, device="cuda")
    positions = torch.randint(0, max_pos, (tokens,), device="cuda")
    BLOCK_H = 4
    _rope_kernel[(tokens, triton.cdiv(max(n_q, n_k), BLOCK_H))](
        q, k, positions, cos_sin,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), cos_sin.stride(0),
        n_q, n_k, HALF=rot_dim // 2, BLOCK_H=BLOCK_H,
    )
    return q, k


def reference(q, k, positions, cos_sin):
    cos, sin = cos_sin[positions].chunk(2, dim=-1)
    cos, sin = cos[:, None, :], sin[:, None, :]

    def rotate(x):
        a, b, rest = x[..., :8], x[..., 8:16], x[..., 16:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)

    return rotate(q), rotate(k)

TRUTH = "verified"
