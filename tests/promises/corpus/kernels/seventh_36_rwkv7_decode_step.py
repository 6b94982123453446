"""One decoded token of RWKV-7:  S <- S diag(w) + (S a) b^T + v k^T,  o = S r.  S is (value, key), updated in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_mul_recurrent_rwkv7_step(
    r_ptr, w_ptr, k_ptr, v_ptr, a_ptr, b_ptr, state_ptr, o_ptr,
    DV,
    DK: tl.constexpr, BV: tl.constexpr,
):
    i_v = tl.program_id(0)
    i_bh = tl.program_id(1)
    o_k = tl.arange(0, DK)
    o_v = i_v * BV + tl.arange(0, BV)
    m_v = o_v < DV

    r = tl.load(r_ptr + i_bh * DK + o_k)
    w = tl.exp(-0.6065306597126334 * tl.sigmoid(tl.load(w_ptr + i_bh * DK + o_k)))
    k = tl.load(k_ptr + i_bh * DK + o_k)
    a = tl.load(a_ptr + i_bh * DK + o_k)
    b = tl.load(b_ptr + i_bh * DK + o_k)
    v = tl.load(v_ptr + i_bh * DV + o_v, mask=m_v, other=0.0)

    p_s = state_ptr + i_bh * DV * DK + o_v[:, None] * DK + o_k[None, :]
    s = tl.load(p_s, mask=m_v[:, None], other=0.0)
    sa = tl.sum(s * a[None, :], axis=1)
    s = s * w[None, :] + sa[:, None] * b[None, :] + v[:, None] * k[None, :]
    tl.store(p_s, s, mask=m_v[:, None])
    tl.store(o_ptr + i_bh * DV + o_v, tl.sum(s * r[None, :], axis=1), mask=m_v)


def launch(B=2, H=3, DV=40):
    DK = 32
    r, w, k, a, b = torch.randn(5, B, H, DK, device="cuda").unbind(0)
    v = torch.randn(B, H, DV, device="cuda")
    state = torch.randn(B, H, DV, DK, device="cuda")
    o = torch.empty(B, H, DV, device="cuda")
    fused_mul_recurrent_rwkv7_step[(triton.cdiv(DV, 16), B * H)](r, w, k, v, a, b, state, o, DV, DK=DK, BV=16)
    return o, state


def reference(r, w, k, v, a, b, state):
    decay = torch.exp(-0.6065306597126334 * torch.sigmoid(w))
    sa = torch.einsum("bhvk,bhk->bhv", state, a)
    new = state * decay.unsqueeze(-2) + sa.unsqueeze(-1) * b.unsqueeze(-2) + v.unsqueeze(-1) * k.unsqueeze(-2)
    return torch.einsum("bhvk,bhk->bhv", new, r), new


TRUTH = "verified"
