"""Causal sliding-window flash attention whose mask is i - j <= window, so each query sees window + 1 keys where the reference has window of them."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def swa_fwd_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr,
    sm_scale, H, T, D, window,
    stride_b, stride_h, stride_t,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    start_m = tl.program_id(0) * BLOCK_M
    bh = tl.program_id(1)
    base = (bh // H) * stride_b + (bh % H) * stride_h
    offs_m = start_m + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    d_mask = offs_d[None, :] < D
    q_off = base + offs_m[:, None] * stride_t + offs_d[None, :]
    q_mask = (offs_m[:, None] < T) & d_mask
    q = tl.load(q_ptr + q_off, mask=q_mask, other=0.0)

    m = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    l = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), dtype=tl.float32)
    lo = tl.maximum(start_m - window, 0) // BLOCK_N * BLOCK_N
    hi = tl.minimum(start_m + BLOCK_M, T)
    for start_n in range(lo, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        kv_off = base + offs_n[:, None] * stride_t + offs_d[None, :]
        kv_mask = (offs_n[:, None] < T) & d_mask
        k = tl.load(k_ptr + kv_off, mask=kv_mask, other=0.0)
        v = tl.load(v_ptr + kv_off, mask=kv_mask, other=0.0)
        qk = tl.dot(q, tl.trans(k)) * sm_scale
        dist = offs_m[:, None] - offs_n[None, :]
        qk = tl.where((dist >= 0) & (dist <= window), qk, -float("inf"))
        m_new = tl.maximum(m, tl.max(qk, axis=1))
        m_safe = tl.where(m_new == -float("inf"), 0.0, m_new)
        p = tl.exp(qk - m_safe[:, None])
        alpha = tl.exp(m - m_safe)
        l = l * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p, v)
        m = m_new
    acc = acc / tl.where(l == 0.0, 1.0, l)[:, None]
    tl.store(out_ptr + q_off, acc, mask=q_mask)


def launch(B=2, H=2, T=40, D=16, window=6):
    q = torch.randn(B, H, T, D, device="cuda")
    k = torch.randn(B, H, T, D, device="cuda")
    v = torch.randn(B, H, T, D, device="cuda")
    out = torch.empty_like(q)
    grid = lambda meta: (triton.cdiv(T, meta["BLOCK_M"]), B * H)
    swa_fwd_kernel[grid](
        q, k, v, out,
        1.0 / math.sqrt(D), H, T, D, window,
        q.stride(0), q.stride(1), q.stride(2),
        BLOCK_M=16, BLOCK_N=16, BLOCK_D=max(16, triton.next_power_of_2(D)),
    )
    return out


def reference(q, k, v, window):
    T = q.shape[2]
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    i = torch.arange(T, device=q.device)[:, None]
    j = torch.arange(T, device=q.device)[None, :]
    visible = (j <= i) & (i - j < window)
    scores = scores.masked_fill(~visible, -float("inf"))
    return torch.softmax(scores, dim=-1) @ v

TRUTH = "broken"
