"""Flash attention forward with grouped queries: GROUP query heads share a head of keys and values."""

import torch
import triton
import triton.language as tl


@triton.jit
def gqa_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, H, TQ, TK,
    GROUP: tl.constexpr, D: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_q = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    kv_head = head // GROUP
    kv_heads = H // GROUP
    q_base = (batch * H + head) * TQ * D
    kv_base = (batch * kv_heads + kv_head) * TK * D
    rows = pid_q * BLOCK_Q + tl.arange(0, BLOCK_Q)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + q_base + rows[:, None] * D + d[None, :], mask=rows[:, None] < TQ, other=0.0) * scale

    m = tl.full([BLOCK_Q], -float("inf"), dtype=tl.float32)
    l = tl.zeros([BLOCK_Q], dtype=tl.float32)
    acc = tl.zeros([BLOCK_Q, D], dtype=tl.float32)
    for start in range(0, TK, BLOCK_K):
        cols = start + tl.arange(0, BLOCK_K)
        live = cols < TK
        k = tl.load(k_ptr + kv_base + cols[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
        v = tl.load(v_ptr + kv_base + cols[:, None] * D + d[None, :], mask=live[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k))
        s = tl.where(live[None, :], s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        l = l * tl.exp(m - m_new) + tl.sum(p, axis=1)
        m = m_new
        acc = acc * tl.exp(m - m_new)[:, None] + tl.dot(p, v)
    out = acc / l[:, None]
    tl.store(o_ptr + q_base + rows[:, None] * D + d[None, :], out, mask=rows[:, None] < TQ)


def launch(B=2, KVH=2, TQ=20, TK=45, D=16):
    GROUP = 3
    H = KVH * GROUP
    q = torch.randn(B, H, TQ, D, device="cuda")
    k = torch.randn(B, KVH, TK, D, device="cuda")
    v = torch.randn(B, KVH, TK, D, device="cuda")
    out = torch.empty_like(q)
    grid = (triton.cdiv(TQ, 16), H, B)
    gqa_kernel[grid](q, k, v, out, D**-0.5, H, TQ, TK, GROUP=GROUP, D=D, BLOCK_Q=16, BLOCK_K=16)
    return out


def reference(q, k, v):
    k = k.repeat_interleave(3, dim=1)
    v = v.repeat_interleave(3, dim=1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return torch.softmax(scores, dim=-1) @ v


TRUTH = "different"
