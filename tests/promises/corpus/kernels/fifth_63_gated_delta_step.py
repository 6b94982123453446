"""One token of the gated delta rule: decay the state, write the corrected value, read it with the query."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def gated_delta_step_kernel(q, k, v, g, beta, h0, ht, o, scale, K, V, BK: tl.constexpr, BV: tl.constexpr):
    i_v, i_n = tl.program_id(0), tl.program_id(1)
    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    m_k = o_k < K
    m_v = o_v < V
    m_h = m_k[:, None] & m_v[None, :]
    p_h = i_n * K * V + o_k[:, None] * V + o_v[None, :]
    b_q = tl.load(q + i_n * K + o_k, mask=m_k, other=0.0) * scale
    b_k = tl.load(k + i_n * K + o_k, mask=m_k, other=0.0)
    b_v = tl.load(v + i_n * V + o_v, mask=m_v, other=0.0)
    b_g = tl.load(g + i_n)
    b_beta = tl.load(beta + i_n)
    b_h = tl.load(h0 + p_h, mask=m_h, other=0.0)
    b_h *= tl.exp(b_g)
    b_v -= tl.sum(b_h * b_k[:, None], axis=0)
    b_v *= b_beta
    b_h += b_k[:, None] * b_v[None, :]
    b_o = tl.sum(b_h * b_q[:, None], axis=0)
    tl.store(o + i_n * V + o_v, b_o, mask=m_v)
    tl.store(ht + p_h, b_h, mask=m_h)


def launch():
    N, K, V = 6, 50, 72
    q, k, v = torch.randn(N, K), torch.nn.functional.normalize(torch.randn(N, K), dim=-1), torch.randn(N, V)
    g, beta = -torch.rand(N), torch.rand(N)
    h0 = torch.randn(N, K, V)
    ht = torch.empty_like(h0)
    o = torch.empty_like(v)
    gated_delta_step_kernel[(triton.cdiv(V, 32), N)](q, k, v, g, beta, h0, ht, o, 0.125, K, V,
                                                     BK=triton.next_power_of_2(K), BV=32)
    return o, ht


def reference(q, k, v, g, beta, h0):
    h = h0 * g.exp()[:, None, None]
    delta = (v - torch.einsum("nkv,nk->nv", h, k)) * beta[:, None]
    h = h + k[:, :, None] * delta[:, None, :]
    return torch.einsum("nkv,nk->nv", h, q) * 0.125, h
