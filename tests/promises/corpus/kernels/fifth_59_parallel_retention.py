"""Retention in its parallel form: causal products decayed by head, a block of queries against the blocks of keys before it."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def parallel_retention_fwd(q, k, v, o, scale, H, T, D: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_h = i_bh % H
    b_b = tl.math.log2(1.0 - tl.math.exp2(-5.0 - i_h * 1.0))
    o_q = i_t * BT + tl.arange(0, BT)
    o_d = tl.arange(0, D)
    base = i_bh * T * D
    b_q = tl.load(q + base + o_q[:, None] * D + o_d[None, :], mask=o_q[:, None] < T, other=0.0) * scale
    b_o = tl.zeros([BT, D], dtype=tl.float32)
    for i_s in range(0, tl.minimum((i_t + 1) * BT, T), BS):
        o_k = i_s + tl.arange(0, BS)
        m_k = o_k < T
        b_k = tl.load(k + base + o_k[None, :] * D + o_d[:, None], mask=m_k[None, :], other=0.0)
        b_v = tl.load(v + base + o_k[:, None] * D + o_d[None, :], mask=m_k[:, None], other=0.0)
        gap = o_q[:, None] - o_k[None, :]
        b_d = tl.where(gap >= 0, tl.math.exp2(gap.to(tl.float32) * b_b), 0.0)
        b_s = tl.dot(b_q, b_k, input_precision="ieee") * b_d
        b_o += tl.dot(b_s, b_v, input_precision="ieee")
    tl.store(o + base + o_q[:, None] * D + o_d[None, :], b_o, mask=o_q[:, None] < T)


def launch():
    B, H, T, D = 2, 3, 75, 32
    q, k, v = torch.randn(B, H, T, D), torch.randn(B, H, T, D), torch.randn(B, H, T, D)
    o = torch.empty_like(v)
    parallel_retention_fwd[(triton.cdiv(T, 32), B * H)](q, k, v, o, D ** -0.5, H, T, D=D, BT=32, BS=16)
    return o


def reference(q, k, v):
    heads, t = q.shape[1], torch.arange(q.shape[2])
    rate = torch.log2(1.0 - torch.exp2(-5.0 - torch.arange(heads, dtype=torch.float32)))
    gap = (t[:, None] - t[None, :]).float()
    decay = torch.exp2(gap * rate[:, None, None]).masked_fill(gap < 0, 0.0)
    return (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 * decay) @ v
