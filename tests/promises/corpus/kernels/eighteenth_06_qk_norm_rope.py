"""Qwen3-style fused per-head RMSNorm of q and k and NeoX rotary embedding, in place on the packed qkv, cos/sin looked up by position."""
import torch
import triton
import triton.language as tl


@triton.jit
def qk_norm_rope_kernel(
    qkv_ptr, q_weight_ptr, k_weight_ptr, cos_sin_ptr, positions_ptr,
    stride_t, num_heads, D, half, eps,
    BLOCK: tl.constexpr,
):
    token = tl.program_id(0)
    head = tl.program_id(1)
    offs = tl.arange(0, BLOCK)
    mask = offs < half
    base = qkv_ptr + token * stride_t + head * D

    x1 = tl.load(base + offs, mask=mask, other=0.0).to(tl.float32)
    x2 = tl.load(base + half + offs, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt((tl.sum(x1 * x1, axis=0) + tl.sum(x2 * x2, axis=0)) / D + eps)

    is_q = head < num_heads
    w1 = tl.where(
        is_q,
        tl.load(q_weight_ptr + offs, mask=mask, other=0.0),
        tl.load(k_weight_ptr + offs, mask=mask, other=0.0),
    )
    w2 = tl.where(
        is_q,
        tl.load(q_weight_ptr + half + offs, mask=mask, other=0.0),
        tl.load(k_weight_ptr + half + offs, mask=mask, other=0.0),
    )
    x1 = x1 * rstd * w1
    x2 = x2 * rstd * w2

    pos = tl.load(positions_ptr + token)
    cos = tl.load(cos_sin_ptr + pos * D + offs, mask=mask, other=0.0)
    sin = tl.load(cos_sin_ptr + pos * D + half + offs, mask=mask, other=0.0)
    tl.store(base + offs, x1 * cos - x2 * sin, mask=mask)
    tl.store(base + half + offs, x2 * cos + x1 * sin, mask=mask)


def launch(T=7, num_heads=4, num_kv_heads=2, half=12, max_pos=32):
    D = 2 * half
    qkv = torch.randn(T, (num_heads + 2 * num_kv_heads) * D, device="cuda")
    q_weight = torch.randn(D, device="cuda")
    k_weight = torch.randn(D, device="cuda")
    cos_sin_cache = torch.randn(max_pos, D, device="cuda")
    positions = torch.randint(0, max_pos, (T,), device="cuda")
    qk_norm_rope_kernel[(T, num_heads + num_kv_heads)](
        qkv, q_weight, k_weight, cos_sin_cache, positions,
        qkv.stride(0), num_heads, D, half, 1e-6,
        BLOCK=triton.next_power_of_2(half),
    )
    return qkv


def reference(qkv, q_weight, k_weight, cos_sin_cache, positions, num_heads, num_kv_heads, half):
    T, D = qkv.shape[0], 2 * half
    q, k, v = qkv.split([num_heads * D, num_kv_heads * D, num_kv_heads * D], dim=-1)
    cos, sin = cos_sin_cache[positions].chunk(2, dim=-1)
    cos, sin = cos[:, None, :], sin[:, None, :]

    def norm_rope(x, weight, heads):
        x = x.reshape(T, heads, D)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight
        x1, x2 = x[..., :half], x[..., half:]
        return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1).reshape(T, heads * D)

    return torch.cat([norm_rope(q, q_weight, num_heads), norm_rope(k, k_weight, num_kv_heads), v], dim=-1)

TRUTH = "verified"
