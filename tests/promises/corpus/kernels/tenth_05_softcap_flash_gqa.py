"""Gemma-2 prefill: causal flash attention with grouped query heads and tanh-capped logits."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def _fwd_kernel(
    Q, K, V, sm_scale, logit_cap, Out,
    stride_qb, stride_qh, stride_qs, stride_qd,
    stride_kb, stride_kh, stride_ks, stride_kd,
    stride_vb, stride_vh, stride_vs, stride_vd,
    stride_ob, stride_oh, stride_os, stride_od,
    num_heads, seq_len,
    GROUP: tl.constexpr, HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_bh = tl.program_id(1)
    off_b = off_bh // num_heads
    off_h = off_bh % num_heads
    off_kv = off_h // GROUP

    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    mask_d = offs_d < HEAD_DIM

    q_ptrs = Q + off_b * stride_qb + off_h * stride_qh + offs_m[:, None] * stride_qs + offs_d[None, :] * stride_qd
    q = tl.load(q_ptrs, mask=(offs_m[:, None] < seq_len) & mask_d[None, :], other=0.0)

    k_base = K + off_b * stride_kb + off_kv * stride_kh
    v_base = V + off_b * stride_vb + off_kv * stride_vh

    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)

    end_n = tl.minimum((start_m + 1) * BLOCK_M, seq_len)
    for start_n in range(0, end_n, BLOCK_N):
        n = start_n + offs_n
        k = tl.load(
            k_base + n[None, :] * stride_ks + offs_d[:, None] * stride_kd,
            mask=(n[None, :] < seq_len) & mask_d[:, None], other=0.0,
        )
        qk = tl.dot(q, k)
        qk *= sm_scale
        qk = logit_cap * tanh(qk / logit_cap)
        qk = tl.where((offs_m[:, None] >= n[None, :]) & (n[None, :] < seq_len), qk, float("-inf"))

        m_new = tl.maximum(m_i, tl.max(qk, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(qk - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(
            v_base + n[:, None] * stride_vs + offs_d[None, :] * stride_vd,
            mask=(n[:, None] < seq_len) & mask_d[None, :], other=0.0,
        )
        acc += tl.dot(p.to(v.dtype), v)
        m_i = m_new

    acc = acc / l_i[:, None]
    o_ptrs = Out + off_b * stride_ob + off_h * stride_oh + offs_m[:, None] * stride_os + offs_d[None, :] * stride_od
    tl.store(o_ptrs, acc.to(Out.dtype.element_ty), mask=(offs_m[:, None] < seq_len) & mask_d[None, :])


def launch(batch=2, kv_heads=2, seq=37, dim=24):
    heads = kv_heads * 2
    q = torch.randn(batch, heads, seq, dim, device="cuda")
    k = torch.randn(batch, kv_heads, seq, dim, device="cuda")
    v = torch.randn(batch, kv_heads, seq, dim, device="cuda")
    o = torch.empty_like(q)
    BLOCK_M, BLOCK_N = 32, 16
    grid = (triton.cdiv(seq, BLOCK_M), batch * heads)
    _fwd_kernel[grid](
        q, k, v, 1.0 / math.sqrt(dim), 50.0, o,
        *q.stride(), *k.stride(), *v.stride(), *o.stride(),
        heads, seq,
        GROUP=2, HEAD_DIM=dim, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_D=triton.next_power_of_2(dim),
    )
    return o


def reference(q, k, v):
    seq, dim = q.shape[2], q.shape[3]
    k = k.repeat_interleave(2, dim=1)
    v = v.repeat_interleave(2, dim=1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(dim)
    scores = 50.0 * torch.tanh(scores / 50.0)
    mask = torch.ones(seq, seq, dtype=torch.bool, device=q.device).tril()
    scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


TRUTH = "verified"
