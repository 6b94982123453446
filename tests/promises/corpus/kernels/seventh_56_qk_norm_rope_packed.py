"""Qwen3-style prologue of attention: RMS norm of each query and key head, then NeoX rotary, in place in qkv."""
import torch
import triton
import triton.language as tl


@triton.jit
def _fused_qk_norm_rope(
    qkv_ptr, qkv_row,
    q_weight_ptr, k_weight_ptr,
    cos_sin_ptr, positions_ptr,
    num_q_heads,
    eps,
    HEAD_DIM: tl.constexpr,
):
    token = tl.program_id(0)
    head = tl.program_id(1)  # query heads first, key heads behind them
    HALF: tl.constexpr = HEAD_DIM // 2
    lane = tl.arange(0, HALF)

    base = qkv_ptr + token * qkv_row + head * HEAD_DIM
    x1 = tl.load(base + lane).to(tl.float32)
    x2 = tl.load(base + HALF + lane).to(tl.float32)

    ms = (tl.sum(x1 * x1, axis=0) + tl.sum(x2 * x2, axis=0)) / HEAD_DIM
    rstd = tl.rsqrt(ms + eps)
    is_q = head < num_q_heads
    w1 = tl.where(is_q, tl.load(q_weight_ptr + lane), tl.load(k_weight_ptr + lane))
    w2 = tl.where(is_q, tl.load(q_weight_ptr + HALF + lane), tl.load(k_weight_ptr + HALF + lane))
    x1 = x1 * rstd * w1
    x2 = x2 * rstd * w2

    pos = tl.load(positions_ptr + token)
    cos = tl.load(cos_sin_ptr + pos * HEAD_DIM + lane)
    sin = tl.load(cos_sin_ptr + pos * HEAD_DIM + HALF + lane)
    tl.store(base + lane, (x1 * cos - x2 * sin).to(qkv_ptr.dtype.element_ty))
    tl.store(base + HALF + lane, (x2 * cos + x1 * sin).to(qkv_ptr.dtype.element_ty))


def fused_qk_norm_rope(qkv, q_weight, k_weight, cos_sin_cache, positions, num_q, num_kv, head_dim, eps):
    _fused_qk_norm_rope[(qkv.shape[0], num_q + num_kv)](
        qkv, qkv.stride(0), q_weight, k_weight, cos_sin_cache, positions, num_q, eps, HEAD_DIM=head_dim
    )


def launch(tokens=5, num_q=4, num_kv=2, max_pos=33):
    head_dim = 32
    qkv = torch.randn(tokens, (num_q + 2 * num_kv) * head_dim, device="cuda")
    q_weight = torch.randn(head_dim, device="cuda")
    k_weight = torch.randn(head_dim, device="cuda")
    cos_sin_cache = torch.randn(max_pos, head_dim, device="cuda")
    positions = torch.randint(0, max_pos, (tokens,), device="cuda")
    fused_qk_norm_rope(qkv, q_weight, k_weight, cos_sin_cache, positions, num_q, num_kv, head_dim, 1e-6)
    return qkv


def reference(qkv, q_weight, k_weight, cos_sin_cache, positions, num_q, num_kv):
    tokens = qkv.shape[0]
    dim = q_weight.shape[0]
    q, k, v = qkv.split([num_q * dim, num_kv * dim, num_kv * dim], dim=-1)
    cos, sin = cos_sin_cache[positions].chunk(2, dim=-1)

    def norm_rope(x, w):
        x = x.view(tokens, -1, dim)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w
        a, b = x.chunk(2, dim=-1)
        c, s = cos[:, None], sin[:, None]
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1).reshape(tokens, -1)

    return torch.cat([norm_rope(q, q_weight), norm_rope(k, k_weight), v], dim=-1)


TRUTH = "verified"
