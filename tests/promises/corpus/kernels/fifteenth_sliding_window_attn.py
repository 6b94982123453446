"""Sliding-window causal flash attention; BUG: the first key tile is found with WINDOW rounded down to tiles (24 -> 16), so keys 17 to 23 back are missed for the first queries of a tile."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def swa_fwd(Q, K, V, O, scale, T, WINDOW: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid_m = tl.program_id(0)
    bh = tl.program_id(1)
    start = pid_m * BLOCK_M
    rm = start + tl.arange(0, BLOCK_M)
    rd = tl.arange(0, D)
    base = bh * T * D
    q = tl.load(Q + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < T, other=0.0)
    m_i = tl.full((BLOCK_M,), -1e30, tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    lo = tl.maximum(0, start - (WINDOW // BLOCK_N) * BLOCK_N)
    hi = tl.minimum(start + BLOCK_M, T)
    for n0 in range(lo, hi, BLOCK_N):
        rn = n0 + tl.arange(0, BLOCK_N)
        k = tl.load(K + base + rn[None, :] * D + rd[:, None], mask=rn[None, :] < T, other=0.0)
        v = tl.load(V + base + rn[:, None] * D + rd[None, :], mask=rn[:, None] < T, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        live = (rn[None, :] <= rm[:, None]) & (rn[None, :] > rm[:, None] - WINDOW)
        s = tl.where(live, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        corr = tl.exp(m_i - m_new)
        l_i = l_i * corr + tl.sum(p, 1)
        acc = acc * corr[:, None] + tl.dot(p, v, input_precision="ieee")
        m_i = m_new
    tl.store(O + base + rm[:, None] * D + rd[None, :], acc / l_i[:, None], mask=rm[:, None] < T)


def launch(B=2, H=2, T=70):
    D, WINDOW = 16, 24
    q = torch.randn(B, H, T, D, device="cuda")
    k = torch.randn(B, H, T, D, device="cuda")
    v = torch.randn(B, H, T, D, device="cuda")
    o = torch.empty_like(q)
    swa_fwd[(triton.cdiv(T, 16), B * H)](q, k, v, o, 1 / math.sqrt(D), T, WINDOW=WINDOW, D=D, BLOCK_M=16, BLOCK_N=16)
    return o


def reference(q, k, v):
    i = torch.arange(q.shape[2], device=q.device)
    live = (i[None, :] <= i[:, None]) & (i[None, :] > i[:, None] - 24)
    s = (q @ k.transpose(-1, -2)) * (1 / math.sqrt(16))
    return s.masked_fill(~live, float("-inf")).softmax(-1) @ v
TRUTH = "broken"
