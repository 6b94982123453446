import torch
import triton
import triton.language as tl


@triton.jit
def chunk_fwd_kernel_o(
    q, k, v, h, g, o,
    scale,
    T,
    H: tl.constexpr, K: tl.constexpr, V: tl.constexpr,
    BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
):
    i_v, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    NT = tl.cdiv(T, BT)
    i_tg = i_b * NT + i_t
    bos = i_b * T

    # offset calculation
    q += (bos * H + i_h) * K
    k += (bos * H + i_h) * K
    v += (bos * H + i_h) * V
    o += (bos * H + i_h) * V
    h += (i_tg * H + i_h) * K * V
    g += bos * H + i_h

    o_t = i_t * BT + tl.arange(0, BT)
    o_v = i_v * BV + tl.arange(0, BV)
    m_t, m_v = o_t < T, o_v < V

    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    b_A = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(tl.cdiv(K, BK)):
        o_k = i_k * BK + tl.arange(0, BK)
        m_k = o_k < K
        b_q = tl.load(q + o_t[:, None] * (H * K) + o_k[None, :], mask=m_t[:, None] & m_k[None, :], other=0.)
        b_k = tl.load(k + o_k[:, None] + o_t[None, :] * (H * K), mask=m_k[:, None] & m_t[None, :], other=0.)
        b_h = tl.load(h + o_k[:, None] * V + o_v[None, :], mask=m_k[:, None] & m_v[None, :], other=0.)
        # [BT, BK] @ [BK, BV] -> [BT, BV]
        b_o += tl.dot(b_q, b_h, input_precision="ieee")
        # [BT, BK] @ [BK, BT] -> [BT, BT]
        b_A += tl.dot(b_q, b_k, input_precision="ieee")

    b_g = tl.load(g + o_t * H, mask=m_t, other=0.)
    b_o = b_o * tl.exp(b_g)[:, None]
    m_A = (o_t[:, None] >= o_t[None, :]) & (m_t[:, None] & m_t)
    b_A = tl.where(m_A, b_A * tl.exp(b_g[:, None] - b_g[None, :]), 0)

    b_v = tl.load(v + o_t[:, None] * (H * V) + o_v[None, :], mask=m_t[:, None] & m_v[None, :], other=0.)
    b_o = b_o * scale + tl.dot(b_A, b_v, input_precision="ieee") * scale
    tl.store(o + o_t[:, None] * (H * V) + o_v[None, :], b_o, mask=m_t[:, None] & m_v[None, :])


def chunk_fwd_o(q, k, v, h, g, scale, chunk_size):
    B, T, H, K, V = *q.shape, v.shape[-1]
    BT = chunk_size
    NT = triton.cdiv(T, BT)
    o = torch.empty_like(v)
    grid = (triton.cdiv(V, 16), NT, B * H)
    chunk_fwd_kernel_o[grid](q, k, v, h, g, o, scale, T=T, H=H, K=K, V=V, BT=BT, BK=16, BV=16)
    return o


def launch(B=2, NT=2):
    H, K, V = 2, 24, 20
    q = torch.randn(B, NT * 16, H, K)
    k = torch.randn(B, NT * 16, H, K)
    v = torch.randn(B, NT * 16, H, V)
    h = torch.randn(B, NT, H, K, V)
    g = -torch.rand(B, NT * 16, H)
    return chunk_fwd_o(q, k, v, h, g, 0.2, 16)


def reference(q, k, v, h, g):
    B, T, H, K = q.shape
    n, V = T // 16, v.shape[-1]
    qc, kc, vc = (x.reshape(B, n, 16, H, -1) for x in (q, k, v))
    gc = g.reshape(B, n, 16, H)
    inter = torch.einsum("bnihk,bnhkv->bnihv", qc * gc.exp().unsqueeze(-1), h)
    gh = gc.permute(0, 1, 3, 2)
    A = torch.einsum("bnihk,bnjhk->bnhij", qc, kc) * (gh[..., :, None] - gh[..., None, :]).exp()
    intra = torch.einsum("bnhij,bnjhv->bnihv", A.tril(), vc)
    return (0.2 * (inter + intra)).reshape(B, T, H, V)


TRUTH = "verified"
