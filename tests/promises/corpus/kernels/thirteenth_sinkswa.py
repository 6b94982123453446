"""sinkswa, as somebody wrote it who knew the documentation alone."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _attn_fwd_sink(
    Q,
    K,
    V,
    Sinks,
    Out,
    sm_scale,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_kb,
    stride_kh,
    stride_kn,
    stride_vb,
    stride_vh,
    stride_vn,
    stride_ob,
    stride_oh,
    stride_om,
    H,
    N_CTX,
    WINDOW: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_bh = tl.program_id(1)
    off_b = off_bh // H
    off_h = off_bh % H

    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    q_base = Q + off_b * stride_qb + off_h * stride_qh
    k_base = K + off_b * stride_kb + off_h * stride_kh
    v_base = V + off_b * stride_vb + off_h * stride_vh
    o_base = Out + off_b * stride_ob + off_h * stride_oh

    q = tl.load(q_base + offs_m[:, None] * stride_qm + offs_d[None, :], mask=offs_m[:, None] < N_CTX, other=0.0)
    sink = tl.load(Sinks + off_h).to(tl.float32)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) + sink
    l_i = tl.full([BLOCK_M], 1.0, dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)

    lo = tl.maximum(0, start_m * BLOCK_M - WINDOW + 1) // BLOCK_N * BLOCK_N
    hi = tl.minimum((start_m + 1) * BLOCK_M, N_CTX)
    for start_n in range(lo, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(k_base + offs_n[:, None] * stride_kn + offs_d[None, :], mask=offs_n[:, None] < N_CTX, other=0.0)
        qk = tl.dot(q, tl.trans(k)) * sm_scale
        dist = offs_m[:, None] - offs_n[None, :]
        qk = tl.where((dist >= 0) & (dist < WINDOW), qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_ij[:, None])
        alpha = tl.exp(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_base + offs_n[:, None] * stride_vn + offs_d[None, :], mask=offs_n[:, None] < N_CTX, other=0.0)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij

    acc = acc / l_i[:, None]
    tl.store(
        o_base + offs_m[:, None] * stride_om + offs_d[None, :],
        acc.to(Out.dtype.element_ty),
        mask=offs_m[:, None] < N_CTX,
    )


def attention_with_sinks(q, k, v, sinks, window, sm_scale):
    B, H, T, D = q.shape
    o = torch.empty_like(q)
    grid = lambda META: (triton.cdiv(T, META["BLOCK_M"]), B * H)
    _attn_fwd_sink[grid](
        q, k, v, sinks, o, sm_scale,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3],
        H, T, WINDOW=window, HEAD_DIM=D, BLOCK_M=32, BLOCK_N=16,
    )
    return o


def launch(batch=2, heads=3, ctx=70):
    q = torch.randn(batch, heads, ctx, 16, device="cuda")
    k = torch.randn(batch, heads, ctx, 16, device="cuda")
    v = torch.randn(batch, heads, ctx, 16, device="cuda")
    sinks = torch.randn(heads, device="cuda")
    return attention_with_sinks(q, k, v, sinks, window=24, sm_scale=0.25)


def reference(q, k, v, sinks):
    t = torch.arange(q.shape[2], device=q.device)
    dist = t[:, None] - t[None, :]
    s = torch.matmul(q, k.transpose(-1, -2)) * 0.25
    s = s.masked_fill((dist < 0) | (dist >= 24), float("-inf"))
    sink = sinks[None, :, None, None].expand(s.shape[0], -1, s.shape[2], 1)
    p = torch.cat([s, sink], dim=-1).softmax(-1)[..., :-1]
    return torch.matmul(p, v)


TRUTH = "verified"
