"""Swin v2's window attention: cosine similarity times a learned, clamped temperature per head, plus a position bias."""
import math

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def _cosine_window_attn(
    Q, K, V, Tau, Bias, O,
    H, N,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    bh = tl.program_id(1)
    h = bh % H
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)

    base = bh * N * D
    q = tl.load(Q + base + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)
    k = tl.load(K + base + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
    v = tl.load(V + base + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
    q = q / tl.maximum(tl.sqrt(tl.sum(q * q, 1)), 1e-12)[:, None]
    k = k / tl.maximum(tl.sqrt(tl.sum(k * k, 1)), 1e-12)[:, None]

    tau = tl.exp(tl.minimum(tl.load(Tau + h), 4.605170185988092))
    bias = tl.load(Bias + h * N * N + m[:, None] * N + n[None, :], mask=(m[:, None] < N) & (n[None, :] < N), other=0.0)
    s = tl.dot(q, tl.trans(k)) * tau + bias
    s = tl.where(n[None, :] < N, s, float("-inf"))
    p = tl.exp(s - tl.max(s, 1)[:, None])
    p = p / tl.sum(p, 1)[:, None]
    o = tl.dot(p.to(v.dtype), v)
    tl.store(O + base + m[:, None] * D + d[None, :], o, mask=m[:, None] < N)


def launch(windows=2, heads=3, tokens=25):
    q = torch.randn(windows, heads, tokens, 16, device="cuda")
    k = torch.randn(windows, heads, tokens, 16, device="cuda")
    v = torch.randn(windows, heads, tokens, 16, device="cuda")
    logit_scale = torch.randn(heads, device="cuda")
    bias = torch.randn(heads, tokens, tokens, device="cuda")
    out = torch.empty_like(q)
    grid = (triton.cdiv(tokens, 16), windows * heads)
    _cosine_window_attn[grid](q, k, v, logit_scale, bias, out, heads, tokens,
                              D=16, BLOCK_M=16, BLOCK_N=triton.next_power_of_2(tokens))
    return out


def reference(q, k, v, logit_scale, bias):
    attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
    attn = attn * torch.clamp(logit_scale, max=math.log(1.0 / 0.01)).exp()[:, None, None]
    attn = (attn + bias).softmax(dim=-1)
    return attn @ v

TRUTH = "verified"
