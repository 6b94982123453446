"""Causal attention with ALiBi and a sliding window; the loop starts at the window's first block."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def attn_kernel(q_ptr, k_ptr, v_ptr, slopes, o_ptr, T, sm_scale, WINDOW: tl.constexpr, H: tl.constexpr,
                D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    bh = tl.program_id(0)
    mb = tl.program_id(1)
    slope = tl.load(slopes + bh % H)
    base = bh * T * D
    rows = mb * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + base + rows[:, None] * D + dims[None, :], mask=rows[:, None] < T, other=0.0)
    m = tl.full((BM,), -1e30, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    lo = tl.maximum(mb * BM - WINDOW + 1, 0) // BN * BN
    hi = tl.minimum((mb + 1) * BM, T)
    for start in range(lo, hi, BN):
        cols = start + tl.arange(0, BN)
        k = tl.load(k_ptr + base + cols[None, :] * D + dims[:, None], mask=cols[None, :] < T, other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * sm_scale
        dist = rows[:, None] - cols[None, :]
        s -= slope * dist
        ok = (dist >= 0) & (dist < WINDOW) & (cols[None, :] < T)
        s = tl.where(ok, s, -1e30)
        m2 = tl.maximum(m, tl.max(s, 1))
        p = tl.where(ok, tl.exp(s - m2[:, None]), 0.0)
        a = tl.exp(m - m2)
        v = tl.load(v_ptr + base + cols[:, None] * D + dims[None, :], mask=cols[:, None] < T, other=0.0)
        acc = acc * a[:, None] + tl.dot(p, v, input_precision="ieee")
        l = l * a + tl.sum(p, 1)
        m = m2
    l = tl.where(rows < T, l, 1.0)
    tl.store(o_ptr + base + rows[:, None] * D + dims[None, :], acc / l[:, None], mask=rows[:, None] < T)


WINDOW = 12


def launch(q, k, v, slopes):
    B, H, T, D = q.shape
    o = torch.empty_like(q)
    attn_kernel[(B * H, triton.cdiv(T, 16))](q, k, v, slopes, o, T, D ** -0.5, WINDOW, H, D, 16, 16)
    return o


def reference(q, k, v, slopes):
    T = q.shape[2]
    i = torch.arange(T)
    dist = i[:, None] - i[None, :]
    s = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 - slopes[:, None, None] * dist
    s = s.masked_fill((dist < 0) | (dist >= WINDOW), float("-inf"))
    return torch.softmax(s, dim=-1) @ v


def inputs(B=2, H=2, T=41, D=16):
    return *(torch.randn(B, H, T, D) for _ in range(3)), torch.tensor([2.0 ** -(h + 1) for h in range(H)])
