"""One decoded token of the gated delta rule: the state decays, is corrected towards v, and is read by q."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def fused_recurrent_gated_delta_step_kernel(
    q, k, v, g, beta, o, h0,
    scale,
    H: tl.constexpr, HV: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
):
    i_v = tl.program_id(0)
    i_nh = tl.program_id(1)
    i_n, i_hv = i_nh // HV, i_nh % HV
    i_h = i_hv // (HV // H)
    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    mask_k = o_k < K
    mask_v = o_v < V
    mask_h = mask_k[:, None] & mask_v[None, :]
    p_h = h0 + i_nh * K * V + o_k[:, None] * V + o_v[None, :]
    b_h = tl.load(p_h, mask=mask_h, other=0.0).to(tl.float32)
    b_q = tl.load(q + (i_n * H + i_h) * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_k = tl.load(k + (i_n * H + i_h) * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_v = tl.load(v + i_nh * V + o_v, mask=mask_v, other=0.0).to(tl.float32)
    b_g = tl.load(g + i_nh).to(tl.float32)
    b_beta = tl.load(beta + i_nh).to(tl.float32)

    b_v -= tl.sum(b_h * b_k[:, None], 0)
    b_h *= tl.exp(b_g)
    b_v *= b_beta
    b_h += b_k[:, None] * b_v[None, :]
    b_o = tl.sum(b_h * (b_q * scale)[:, None], 0)
    tl.store(o + i_nh * V + o_v, b_o, mask=mask_v)
    tl.store(p_h, b_h, mask=mask_h)


def launch():
    N, H, HV, K, V = 3, 2, 4, 24, 40
    q = torch.randn(N, H, K)
    k = torch.nn.functional.normalize(torch.randn(N, H, K), dim=-1)
    v = torch.randn(N, HV, V)
    g = -torch.rand(N, HV)
    beta = torch.rand(N, HV)
    o = torch.empty(N, HV, V)
    state = torch.randn(N, HV, K, V)
    BV = 16
    fused_recurrent_gated_delta_step_kernel[(triton.cdiv(V, BV), N * HV)](
        q, k, v, g, beta, o, state, 0.2, H=H, HV=HV, K=K, V=V, BK=triton.next_power_of_2(K), BV=BV
    )
    return o, state


def reference(q, k, v, g, beta, state):
    ratio = v.shape[1] // q.shape[1]
    qq, kk = q.repeat_interleave(ratio, 1), k.repeat_interleave(ratio, 1)
    h = state * torch.exp(g)[..., None, None]
    delta = (v - (h * kk[..., None]).sum(2)) * beta[..., None]
    h = h + kk[..., None] * delta[:, :, None, :]
    return 0.2 * (h * qq[..., None]).sum(2), h
