"""RWKV-6, fused recurrent forward (after flash-linear-attention): data-dependent decay and the bonus u of the current token."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_recurrent_rwkv6_fwd_kernel(
    r, k, v, w, u, o, ht,
    s_k_h, s_v_h,
    scale, H, T, K, V,
    BK: tl.constexpr, BV: tl.constexpr,
    STORE_FINAL_STATE: tl.constexpr,
):
    i_v, i_bh = tl.program_id(0), tl.program_id(1)
    i_h = i_bh % H

    o_k = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    mask_k = o_k < K
    mask_v = o_v < V

    p_r = r + i_bh * s_k_h + o_k
    p_k = k + i_bh * s_k_h + o_k
    p_w = w + i_bh * s_k_h + o_k
    p_v = v + i_bh * s_v_h + o_v
    p_o = o + i_bh * s_v_h + o_v
    b_u = tl.load(u + i_h * K + o_k, mask=mask_k, other=0.0).to(tl.float32)
    b_h = tl.zeros([BV, BK], dtype=tl.float32)

    for _ in range(0, T):
        b_k = tl.load(p_k, mask=mask_k, other=0.0).to(tl.float32)
        b_v = tl.load(p_v, mask=mask_v, other=0.0).to(tl.float32)
        b_r = tl.load(p_r, mask=mask_k, other=0.0).to(tl.float32) * scale
        b_w = tl.exp(tl.load(p_w, mask=mask_k, other=0.0).to(tl.float32))
        b_kv = b_k[None, :] * b_v[:, None]
        b_o = (b_h + b_kv * b_u[None, :]) * b_r[None, :]
        b_o = tl.sum(b_o, axis=1)
        b_h = b_h * b_w[None, :] + b_kv
        tl.store(p_o, b_o.to(p_o.dtype.element_ty), mask=mask_v)
        p_r += K
        p_k += K
        p_w += K
        p_v += V
        p_o += V

    if STORE_FINAL_STATE:
        p_ht = ht + i_bh * K * V + o_k[None, :] * V + o_v[:, None]
        tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), mask=mask_k[None, :] & mask_v[:, None])


def launch(B=2, H=3, T=7, K=11, V=13):
    r = torch.randn(B, H, T, K, device="cuda")
    k = torch.randn(B, H, T, K, device="cuda")
    v = torch.randn(B, H, T, V, device="cuda")
    w = -torch.exp(torch.randn(B, H, T, K, device="cuda"))
    u = torch.randn(H, K, device="cuda")
    o = torch.empty_like(v)
    ht = torch.empty(B, H, K, V, device="cuda", dtype=torch.float32)
    BV = 8
    fused_recurrent_rwkv6_fwd_kernel[(triton.cdiv(V, BV), B * H)](
        r, k, v, w, u, o, ht,
        r.stride(1), v.stride(1),
        0.5, H, T, K, V,
        BK=triton.next_power_of_2(K), BV=BV, STORE_FINAL_STATE=True,
        num_warps=1, num_stages=1,
    )
    return o, ht


def reference(r, k, v, w, u):
    B, H, T, K = r.shape
    state = torch.zeros(B, H, K, v.shape[-1], device=r.device, dtype=r.dtype)
    outputs = []
    for t in range(T):
        kv = k[:, :, t, :, None] * v[:, :, t, None, :]
        read = state + u[None, :, :, None] * kv
        outputs.append((0.5 * r[:, :, t, :, None] * read).sum(-2))
        state = torch.exp(w[:, :, t])[..., None] * state + kv
    return torch.stack(outputs, dim=2), state


TRUTH = "verified"
