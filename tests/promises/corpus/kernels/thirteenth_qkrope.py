"""qkrope, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _qk_norm_rope_kernel(
    qkv_ptr,
    q_weight_ptr,
    k_weight_ptr,
    positions_ptr,
    cos_sin_ptr,
    stride_token,
    stride_cs,
    n_q_heads,
    eps,
    HEAD_DIM: tl.constexpr,
):
    token = tl.program_id(0)
    head = tl.program_id(1)
    HALF: tl.constexpr = HEAD_DIM // 2
    offs = tl.arange(0, HALF)

    base = qkv_ptr + token * stride_token + head * HEAD_DIM
    x1 = tl.load(base + offs).to(tl.float32)
    x2 = tl.load(base + HALF + offs).to(tl.float32)

    rstd = tl.rsqrt((tl.sum(x1 * x1, 0) + tl.sum(x2 * x2, 0)) / HEAD_DIM + eps)
    if head < n_q_heads:
        w1 = tl.load(q_weight_ptr + offs)
        w2 = tl.load(q_weight_ptr + HALF + offs)
    else:
        w1 = tl.load(k_weight_ptr + offs)
        w2 = tl.load(k_weight_ptr + HALF + offs)
    x1 = x1 * rstd * w1
    x2 = x2 * rstd * w2

    pos = tl.load(positions_ptr + token)
    cos = tl.load(cos_sin_ptr + pos * stride_cs + offs)
    sin = tl.load(cos_sin_ptr + pos * stride_cs + HALF + offs)
    tl.store(base + offs, x1 * cos - x2 * sin)
    tl.store(base + HALF + offs, x2 * cos + x1 * sin)


def qk_norm_rope_(qkv, q_weight, k_weight, positions, cos_sin_cache, q_heads, kv_heads, eps=1e-6):
    head_dim = q_weight.shape[0]
    grid = (qkv.shape[0], q_heads + kv_heads)
    _qk_norm_rope_kernel[grid](
        qkv, q_weight, k_weight, positions, cos_sin_cache,
        qkv.stride(0), cos_sin_cache.stride(0), q_heads, eps,
        HEAD_DIM=head_dim,
    )
    return qkv


def launch(tokens=6, q_heads=4, kv_heads=2, max_pos=40):
    head_dim = 32
    qkv = torch.randn(tokens, (q_heads + 2 * kv_heads) * head_dim, device="cuda")
    q_weight = torch.randn(head_dim, device="cuda")
    k_weight = torch.randn(head_dim, device="cuda")
    positions = torch.randint(0, max_pos, (tokens,), device="cuda")
    cos_sin_cache = torch.randn(max_pos, head_dim, device="cuda")
    return qk_norm_rope_(qkv, q_weight, k_weight, positions, cos_sin_cache, q_heads, kv_heads)


def reference(qkv, q_weight, k_weight, positions, cos_sin_cache, q_heads, kv_heads):
    d = q_weight.shape[0]
    cos, sin = cos_sin_cache[positions].unsqueeze(1).chunk(2, dim=-1)

    def norm_rope(x, w):
        x = x.reshape(x.shape[0], -1, d)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(1)

    q, k, v = qkv.split([q_heads * d, kv_heads * d, kv_heads * d], dim=-1)
    return torch.cat([norm_rope(q, q_weight), norm_rope(k, k_weight), v], dim=-1)


TRUTH = "verified"
