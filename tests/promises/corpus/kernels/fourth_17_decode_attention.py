"""Attention of one query on a cache of S keys with grouped heads; broken: scores beyond S are 0 instead of −∞, so each adds exp(0 − m)."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def decode_attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, sm_scale, S, GROUPS,
    stride_kb, stride_kh, stride_ks, H,
    D: tl.constexpr, BLOCK_S: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    kv = h // GROUPS
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (b * H + h) * D + d)
    m = -float("inf")
    l = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for start in range(0, S, BLOCK_S):
        s = start + tl.arange(0, BLOCK_S)
        base = b * stride_kb + kv * stride_kh
        inside = s < S
        k = tl.load(k_ptr + base + s[:, None] * stride_ks + d[None, :], mask=inside[:, None], other=0.0)
        v = tl.load(v_ptr + base + s[:, None] * stride_ks + d[None, :], mask=inside[:, None], other=0.0)
        scores = tl.sum(q[None, :] * k, axis=1) * sm_scale
        m_new = tl.maximum(m, tl.max(scores, axis=0))
        p = tl.exp(scores - m_new)
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(p, axis=0)
        acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)
        m = m_new
    tl.store(o_ptr + (b * H + h) * D + d, acc / l)


def launch(B=2, KVH=2, GROUPS=2, S=64, scale=0.25):
    D = 16
    H = KVH * GROUPS
    q = torch.randn(B, H, D)
    k = torch.randn(B, KVH, S, D)
    v = torch.randn(B, KVH, S, D)
    o = torch.empty_like(q)
    decode_attention_kernel[(B, H)](q, k, v, o, scale, S, GROUPS, k.stride(0), k.stride(1), k.stride(2), H, D=D, BLOCK_S=32)
    return o


def reference(q, k, v, scale=0.25):
    groups = q.shape[1] // k.shape[1]
    k = k.repeat_interleave(groups, dim=1)
    v = v.repeat_interleave(groups, dim=1)
    p = torch.softmax((q[:, :, None, :] * k).sum(-1) * scale, dim=-1)
    return (p[..., None] * v).sum(2)
