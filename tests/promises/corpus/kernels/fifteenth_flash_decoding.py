"""Flash decoding of one token per sequence: stage 1 leaves max, sum and accumulator of each KV split (splits may be empty), stage 2 merges them."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def decode_stage1(q_ptr, k_ptr, v_ptr, len_ptr, acc_ptr, m_ptr, l_ptr, scale, H, L, HK, GROUP: tl.constexpr,
                  D: tl.constexpr, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    s = tl.program_id(2)
    d = tl.arange(0, D)
    n = tl.load(len_ptr + b)
    per = tl.cdiv(n, SPLITS)
    lo = s * per
    hi = tl.minimum(lo + per, n)
    q = tl.load(q_ptr + (b * H + h) * D + d).to(tl.float32) * scale
    m = float("-inf")
    l = 0.0
    acc = tl.zeros([D], tl.float32)
    for start in range(lo, hi, BLOCK):
        t = start + tl.arange(0, BLOCK)
        ok = t < hi
        off = ((b * L + t) * HK + h // GROUP)[:, None] * D + d[None, :]
        k = tl.load(k_ptr + off, mask=ok[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_ptr + off, mask=ok[:, None], other=0.0).to(tl.float32)
        z = tl.where(ok, tl.sum(q[None, :] * k, 1), float("-inf"))
        m_new = tl.maximum(m, tl.max(z, 0))
        p = tl.exp(z - m_new)
        a = tl.exp(m - m_new)
        l = l * a + tl.sum(p, 0)
        acc = acc * a + tl.sum(p[:, None] * v, 0)
        m = m_new
    part = (b * H + h) * SPLITS + s
    tl.store(acc_ptr + part * D + d, acc)
    tl.store(m_ptr + part, m)
    tl.store(l_ptr + part, l)


@triton.jit
def decode_stage2(acc_ptr, m_ptr, l_ptr, o_ptr, D: tl.constexpr, SPLITS: tl.constexpr):
    bh = tl.program_id(0)
    s = tl.arange(0, SPLITS)
    d = tl.arange(0, D)
    m = tl.load(m_ptr + bh * SPLITS + s)
    l = tl.load(l_ptr + bh * SPLITS + s)
    acc = tl.load(acc_ptr + (bh * SPLITS + s)[:, None] * D + d[None, :])
    w = tl.exp(m - tl.max(m, 0))
    out = tl.sum(acc * w[:, None], 0) / tl.sum(l * w, 0)
    tl.store(o_ptr + bh * D + d, out)


def launch(B=3, L=70):
    H, HK, D, SPLITS = 4, 2, 32, 4
    q = torch.randn(B, H, D, device="cuda")
    k_cache = torch.randn(B, L, HK, D, device="cuda")
    v_cache = torch.randn(B, L, HK, D, device="cuda")
    lengths = torch.randint(1, L + 1, (B,), device="cuda", dtype=torch.int32)
    acc = torch.empty(B, H, SPLITS, D, device="cuda", dtype=torch.float32)
    m = torch.empty(B, H, SPLITS, device="cuda", dtype=torch.float32)
    l = torch.empty_like(m)
    out = torch.empty_like(q)
    decode_stage1[(B, H, SPLITS)](q, k_cache, v_cache, lengths, acc, m, l, 1 / math.sqrt(D), H, L, HK, GROUP=H // HK, D=D, SPLITS=SPLITS, BLOCK=16)
    decode_stage2[(B * H,)](acc, m, l, out, D=D, SPLITS=SPLITS)
    return out


def reference(q, k_cache, v_cache, lengths):
    L = k_cache.shape[1]
    k = k_cache.repeat_interleave(2, dim=2)
    v = v_cache.repeat_interleave(2, dim=2)
    s = torch.einsum("bhd,blhd->bhl", q, k) / math.sqrt(32)
    live = torch.arange(L, device=q.device)[None, :] < lengths[:, None]
    p = s.masked_fill(~live[:, None, :], float("-inf")).softmax(-1)
    return torch.einsum("bhl,blhd->bhd", p, v)
TRUTH = "verified"
