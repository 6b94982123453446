"""Causal flash attention forward in fp16 with ALiBi slopes and grouped KV heads; unmasked tiles and the diagonal tile go through one loop."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def attn_fwd(Q, K, V, Slopes, O, sm_scale,
             sqb, sqh, sqt, skb, skh, skt, sob, soh, sot,
             H, T, GROUP: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    LOG2E: tl.constexpr = 1.4426950408889634
    start_m = tl.program_id(0)
    b = tl.program_id(1) // H
    h = tl.program_id(1) % H
    hk = h // GROUP
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + b * sqb + h * sqh + offs_m[:, None] * sqt + offs_d[None, :], mask=offs_m[:, None] < T, other=0.0)
    slope = tl.load(Slopes + h) * LOG2E
    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    hi = tl.minimum((start_m + 1) * BLOCK_M, T)
    for start_n in range(0, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        kv = b * skb + hk * skh + offs_n[:, None] * skt + offs_d[None, :]
        k = tl.load(K + kv, mask=offs_n[:, None] < T, other=0.0)
        s = tl.dot(q, tl.trans(k)) * (sm_scale * LOG2E)
        s += slope * (offs_n[None, :] - offs_m[:, None]).to(tl.float32)
        s = tl.where((offs_n[None, :] <= offs_m[:, None]) & (offs_n[None, :] < T), s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V + kv, mask=offs_n[:, None] < T, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(O + b * sob + h * soh + offs_m[:, None] * sot + offs_d[None, :], acc.to(O.dtype.element_ty), mask=offs_m[:, None] < T)


def launch(B=2, T=50):
    H, HK, D = 4, 2, 32
    q = torch.randn(B, H, T, D, device="cuda", dtype=torch.float16)
    k = torch.randn(B, HK, T, D, device="cuda", dtype=torch.float16)
    v = torch.randn(B, HK, T, D, device="cuda", dtype=torch.float16)
    slopes = torch.rand(H, device="cuda")
    o = torch.empty_like(q)
    grid = (triton.cdiv(T, 16), B * H)
    attn_fwd[grid](q, k, v, slopes, o, 1.0 / math.sqrt(D),
                   q.stride(0), q.stride(1), q.stride(2), k.stride(0), k.stride(1), k.stride(2),
                   o.stride(0), o.stride(1), o.stride(2), H, T, GROUP=H // HK, D=D, BLOCK_M=16, BLOCK_N=16)
    return o


def reference(q, k, v, slopes):
    T = q.shape[2]
    k = k.float().repeat_interleave(2, dim=1)
    v = v.float().repeat_interleave(2, dim=1)
    pos = torch.arange(T, device=q.device)
    dist = pos[None, :] - pos[:, None]
    s = q.float() @ k.transpose(-1, -2) / math.sqrt(32)
    s = s + slopes[:, None, None] * dist
    s = s.masked_fill(dist > 0, float("-inf"))
    return (s.softmax(-1) @ v).half()
TRUTH = "verified"
