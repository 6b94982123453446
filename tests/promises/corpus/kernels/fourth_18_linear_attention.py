"""Causal linear attention, token by token with the state k·vᵀ in registers (fused recurrent, no decay); right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def fused_recurrent_linear_attn_kernel(q, k, v, o, scale, T, K, V, BK: tl.constexpr, BV: tl.constexpr):
    i_v = tl.program_id(0)
    i_bh = tl.program_id(1)
    ok = tl.arange(0, BK)
    ov = i_v * BV + tl.arange(0, BV)
    mask_k = ok < K
    mask_v = ov < V
    p_q = q + i_bh * T * K + ok
    p_k = k + i_bh * T * K + ok
    p_v = v + i_bh * T * V + ov
    p_o = o + i_bh * T * V + ov
    b_h = tl.zeros([BV, BK], dtype=tl.float32)
    for _ in range(0, T):
        b_k = tl.load(p_k, mask=mask_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=mask_v, other=0).to(tl.float32)
        b_q = tl.load(p_q, mask=mask_k, other=0).to(tl.float32) * scale
        b_h += b_k[None, :] * b_v[:, None]
        b_o = tl.sum(b_h * b_q[None, :], axis=1)
        tl.store(p_o, b_o.to(p_o.dtype.element_ty), mask=mask_v)
        p_q += K
        p_k += K
        p_o += V
        p_v += V


def linear_attention(q, k, v, scale=0.5):
    B, H, T, K = q.shape
    V = v.shape[-1]
    o = torch.empty_like(v)
    BK, BV = triton.next_power_of_2(K), 8
    fused_recurrent_linear_attn_kernel[(triton.cdiv(V, BV), B * H)](q, k, v, o, scale, T, K, V, BK=BK, BV=BV)
    return o


def launch(B=2, H=2, T=12, K=14, V=20):
    q = torch.randn(B, H, T, K)
    k = torch.randn(B, H, T, K)
    v = torch.randn(B, H, T, V)
    return linear_attention(q, k, v)


def reference(q, k, v, scale=0.5):
    s = torch.tril(scale * q @ k.transpose(-1, -2))
    return s @ v
