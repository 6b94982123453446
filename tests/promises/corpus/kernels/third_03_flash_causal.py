import math

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _fwd_kernel(
    Q, K, V, Out, softmax_scale,
    stride_qb, stride_qh, stride_qm,
    stride_kb, stride_kh, stride_kn,
    stride_vb, stride_vh, stride_vn,
    stride_ob, stride_oh, stride_om,
    nheads, seqlen,
    HEADDIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hb = tl.program_id(1)
    off_b = off_hb // nheads
    off_h = off_hb % nheads
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEADDIM)

    q_ptrs = Q + off_b * stride_qb + off_h * stride_qh + (offs_m[:, None] * stride_qm + offs_d[None, :])
    k_ptrs = K + off_b * stride_kb + off_h * stride_kh + (offs_n[:, None] * stride_kn + offs_d[None, :])
    v_ptrs = V + off_b * stride_vb + off_h * stride_vh + (offs_n[:, None] * stride_vn + offs_d[None, :])

    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEADDIM], dtype=tl.float32)
    q = tl.load(q_ptrs, mask=offs_m[:, None] < seqlen, other=0.0)

    end_n = tl.minimum((start_m + 1) * BLOCK_M, seqlen)
    for start_n in range(0, end_n, BLOCK_N):
        kv_mask = (start_n + offs_n) < seqlen
        k = tl.load(k_ptrs + start_n * stride_kn, mask=kv_mask[:, None], other=0.0)
        qk = tl.dot(q, tl.trans(k), input_precision="ieee") * softmax_scale
        visible = (offs_m[:, None] >= (start_n + offs_n)[None, :]) & kv_mask[None, :]
        qk = tl.where(visible, qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptrs + start_n * stride_vn, mask=kv_mask[:, None], other=0.0)
        acc += tl.dot(p, v, input_precision="ieee")
        m_i = m_new

    acc = acc / l_i[:, None]
    o_ptrs = Out + off_b * stride_ob + off_h * stride_oh + (offs_m[:, None] * stride_om + offs_d[None, :])
    tl.store(o_ptrs, acc, mask=offs_m[:, None] < seqlen)


def launch(q, k, v):
    batch, nheads, seqlen, d = q.shape
    o = torch.empty_like(q)
    BLOCK = 16
    grid = (triton.cdiv(seqlen, BLOCK), batch * nheads)
    _fwd_kernel[grid](
        q, k, v, o, 1.0 / math.sqrt(d),
        q.stride(0), q.stride(1), q.stride(2),
        k.stride(0), k.stride(1), k.stride(2),
        v.stride(0), v.stride(1), v.stride(2),
        o.stride(0), o.stride(1), o.stride(2),
        nheads, seqlen,
        HEADDIM=d, BLOCK_M=BLOCK, BLOCK_N=BLOCK,
    )
    return o


def reference(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def inputs(batch=2, heads=3, seqlen=37, d=16):
    return tuple(torch.randn(batch, heads, seqlen, d) for _ in range(3))
