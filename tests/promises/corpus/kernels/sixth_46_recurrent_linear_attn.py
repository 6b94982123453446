# Copyright notices left out
import torch
import triton
import triton.language as tl


@triton.jit
def fused_recurrent_linear_attn_fwd_kernel(
    q, k, v, o, h0, ht,
    scale,
    T,
    K: tl.constexpr, V: tl.constexpr,
    BK: tl.constexpr, BV: tl.constexpr,
    USE_INITIAL_STATE: tl.constexpr,
    STORE_FINAL_STATE: tl.constexpr,
):
    i_v, i_bh = tl.program_id(0), tl.program_id(1)
    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    m_k, m_v = o_k < K, o_v < V

    p_q = q + i_bh * T * K + o_k
    p_k = k + i_bh * T * K + o_k
    p_v = v + i_bh * T * V + o_v
    p_o = o + i_bh * T * V + o_v

    b_h = tl.zeros([BV, BK], dtype=tl.float32)
    if USE_INITIAL_STATE:
        p_h0 = h0 + i_bh * K * V + o_k[None, :] * V + o_v[:, None]
        b_h += tl.load(p_h0, mask=m_v[:, None] & m_k[None, :], other=0.)

    for _ in range(0, T):
        b_q = tl.load(p_q, mask=m_k, other=0.) * scale
        b_k = tl.load(p_k, mask=m_k, other=0.)
        b_v = tl.load(p_v, mask=m_v, other=0.)
        b_h += b_k[None, :] * b_v[:, None]
        b_o = tl.sum(b_h * b_q[None, :], axis=1)
        tl.store(p_o, b_o, mask=m_v)
        p_q += K
        p_k += K
        p_v += V
        p_o += V

    if STORE_FINAL_STATE:
        p_ht = ht + i_bh * K * V + o_k[None, :] * V + o_v[:, None]
        tl.store(p_ht, b_h, mask=m_v[:, None] & m_k[None, :])


def fused_recurrent_linear_attn(q, k, v, initial_state):
    BH, T, K = q.shape
    V = v.shape[-1]
    BK, BV = triton.next_power_of_2(K), 16
    o = torch.empty_like(v)
    ht = torch.empty_like(initial_state)
    fused_recurrent_linear_attn_fwd_kernel[(triton.cdiv(V, BV), BH)](
        q, k, v, o, initial_state, ht, K ** -0.5, T, K=K, V=V, BK=BK, BV=BV,
        USE_INITIAL_STATE=True, STORE_FINAL_STATE=True)
    return o, ht


def launch(BH=3, T=11):
    q = torch.randn(BH, T, 16)
    k = torch.randn(BH, T, 16)
    v = torch.randn(BH, T, 24)
    h0 = torch.randn(BH, 16, 24)
    return fused_recurrent_linear_attn(q, k, v, h0)


def reference(q, k, v, h0):
    q = 0.25 * q
    score = torch.tril(q @ k.transpose(1, 2))
    return score @ v + q @ h0, h0 + k.transpose(1, 2) @ v


TRUTH = "verified"
