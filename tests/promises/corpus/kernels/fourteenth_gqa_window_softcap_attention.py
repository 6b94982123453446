"""Prefill attention as in Gemma 2: grouped-query, causal, sliding window, soft-capped scores, online softmax over the tiles of the window."""
import torch
import triton
import triton.language as tl


@triton.jit
def attn_fwd_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, softcap, T, window, dim,
    q_t, q_h, k_t, k_h, v_t, v_h, o_t, o_h, group,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    start_m = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1)
    kv_head = head // group
    rows = start_m + tl.arange(0, BLOCK_M)
    d = tl.arange(0, BLOCK_D)
    q_mask = (rows[:, None] < T) & (d[None, :] < dim)
    q = tl.load(q_ptr + rows[:, None] * q_t + head * q_h + d[None, :], mask=q_mask, other=0.0)

    m = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    lo = tl.maximum(start_m - window + 1, 0) // BLOCK_N * BLOCK_N
    hi = tl.minimum(start_m + BLOCK_M, T)
    for start_n in range(lo, hi, BLOCK_N):
        cols = start_n + tl.arange(0, BLOCK_N)
        kv_mask = (cols[:, None] < T) & (d[None, :] < dim)
        k = tl.load(k_ptr + cols[:, None] * k_t + kv_head * k_h + d[None, :], mask=kv_mask, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = softcap * (2.0 * tl.sigmoid(2.0 * s / softcap) - 1.0)
        dist = rows[:, None] - cols[None, :]
        s = tl.where((dist >= 0) & (dist < window) & (cols[None, :] < T), s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        m_safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp(s - m_safe[:, None])
        alpha = tl.exp(m - m_safe)
        l = l * alpha + tl.sum(p, axis=1)
        v = tl.load(v_ptr + cols[:, None] * v_t + kv_head * v_h + d[None, :], mask=kv_mask, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p, v)
        m = m_new
    tl.store(o_ptr + rows[:, None] * o_t + head * o_h + d[None, :], acc / l[:, None], mask=q_mask)


def launch(tokens=50, kv_heads=2, group=3, dim=24, window=20):
    heads = kv_heads * group
    q = torch.randn(tokens, heads, dim)
    k = torch.randn(tokens, kv_heads, dim)
    v = torch.randn(tokens, kv_heads, dim)
    o = torch.empty_like(q)
    attn_fwd_kernel[(triton.cdiv(tokens, 16), heads)](
        q, k, v, o, 0.125, 30.0, tokens, window, dim,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1), o.stride(0), o.stride(1), group,
        BLOCK_M=16, BLOCK_N=16, BLOCK_D=triton.next_power_of_2(dim),
    )
    return o


def reference(q, k, v, group, window):
    T = q.shape[0]
    k = k.repeat_interleave(group, dim=1)
    v = v.repeat_interleave(group, dim=1)
    s = torch.einsum("qhd,khd->hqk", q, k) * 0.125
    s = 30.0 * torch.tanh(s / 30.0)
    pos = torch.arange(T)
    dist = pos[:, None] - pos[None, :]
    s = s.masked_fill(~((dist >= 0) & (dist < window)), float("-inf"))
    return torch.einsum("hqk,khd->qhd", torch.softmax(s, -1), v)
TRUTH = "verified"
