"""Output of a chunk of simple gated linear attention: what the chunk's state gives and the decayed causal part inside it."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def chunk_fwd_kernel_o(q, k, v, h, g, o, scale, T, H, K: tl.constexpr, V, BT: tl.constexpr, BK: tl.constexpr,
                       BV: tl.constexpr):
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    NT = tl.cdiv(T, BT)
    o_t = i_t * BT + tl.arange(0, BT)
    o_v = i_v * BV + tl.arange(0, BV)
    m_t = o_t < T
    m_v = o_v < V
    row = (i_b * T + o_t) * H + i_h
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    b_A = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(tl.cdiv(K, BK)):
        o_k = i_k * BK + tl.arange(0, BK)
        m_k = o_k < K
        b_q = tl.load(q + row[:, None] * K + o_k[None, :], mask=m_t[:, None] & m_k[None, :], other=0.0)
        b_k = tl.load(k + row[None, :] * K + o_k[:, None], mask=m_t[None, :] & m_k[:, None], other=0.0)
        p_h = (((i_b * NT + i_t) * H + i_h) * K + o_k[:, None]) * V + o_v[None, :]
        b_h = tl.load(h + p_h, mask=m_k[:, None] & m_v[None, :], other=0.0)
        b_o += tl.dot(b_q, b_h, input_precision="ieee")
        b_A += tl.dot(b_q, b_k, input_precision="ieee")
    b_g = tl.load(g + row, mask=m_t, other=0.0)
    b_o = b_o * tl.exp(b_g)[:, None]
    keep = (o_t[:, None] >= o_t[None, :]) & m_t[:, None] & m_t[None, :]
    b_A = tl.where(keep, b_A * tl.exp(b_g[:, None] - b_g[None, :]), 0.0)
    b_v = tl.load(v + row[:, None] * V + o_v[None, :], mask=m_t[:, None] & m_v[None, :], other=0.0)
    b_o = (b_o + tl.dot(b_A, b_v, input_precision="ieee")) * scale
    tl.store(o + row[:, None] * V + o_v[None, :], b_o, mask=m_t[:, None] & m_v[None, :])


def launch():
    B, T, H, K, V, BT = 2, 76, 2, 24, 40, 16
    q, k, v = torch.randn(B, T, H, K), torch.randn(B, T, H, K), torch.randn(B, T, H, V)
    g = -torch.rand(B, T, H)
    h = torch.randn(B, triton.cdiv(T, BT), H, K, V)
    o = torch.empty_like(v)
    chunk_fwd_kernel_o[(triton.cdiv(V, 32), triton.cdiv(T, BT), B * H)](q, k, v, h, g, o, 0.2, T, H, K, V, BT=BT,
                                                                       BK=16, BV=32)
    return o


def reference(q, k, v, h, g):
    t = torch.arange(q.shape[1])
    chunk = t // 16
    inter = torch.einsum("bthk,bthkv->bthv", q, h[:, chunk]) * g.exp()[..., None]
    gt = g.transpose(1, 2)
    keep = (t[:, None] >= t[None, :]) & (chunk[:, None] == chunk[None, :])
    decay = torch.where(keep, gt[..., :, None] - gt[..., None, :], float("-inf")).exp()
    scores = torch.einsum("bthk,bshk->bhts", q, k) * decay
    return (inter + torch.einsum("bhts,bshv->bthv", scores, v)) * 0.2
