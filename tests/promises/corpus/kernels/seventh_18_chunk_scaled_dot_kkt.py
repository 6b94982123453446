"""Gated delta rule: A = tril(beta * exp(g_i - g_j) * K K^T, -1) inside chunks, over heads-last tensors."""
import torch
import triton
import triton.language as tl


@triton.jit
def chunk_scaled_dot_kkt_fwd_kernel(
    k, g, beta, A, T,
    H: tl.constexpr, K: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr,
):
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    o_i = tl.arange(0, BT)
    o_t = i_t * BT + o_i
    m_t = o_t < T
    row = (i_b * T + o_t) * H + i_h

    b_beta = tl.load(beta + row, mask=m_t, other=0.0)
    b_A = tl.zeros([BT, BT], dtype=tl.float32)
    for i_k in range(tl.cdiv(K, BK)):
        o_k = i_k * BK + tl.arange(0, BK)
        b_k = tl.load(k + row[:, None] * K + o_k[None, :], mask=m_t[:, None] & (o_k < K)[None, :], other=0.0)
        b_A += tl.dot(b_k * b_beta[:, None], tl.trans(b_k))
    b_g = tl.load(g + row, mask=m_t, other=0.0)
    b_A *= tl.exp(b_g[:, None] - b_g[None, :])
    keep = (o_i[:, None] > o_i[None, :]) & m_t[:, None]
    b_A = tl.where(keep, b_A, 0.0)
    tl.store(A + row[:, None] * BT + o_i[None, :], b_A, mask=m_t[:, None])


def chunk_scaled_dot_kkt_fwd(k, g, beta, chunk_size):
    B, T, H, K = k.shape
    A = torch.empty(B, T, H, chunk_size, device=k.device, dtype=torch.float32)
    chunk_scaled_dot_kkt_fwd_kernel[(triton.cdiv(T, chunk_size), B * H)](
        k, g, beta, A, T, H=H, K=K, BT=chunk_size, BK=16
    )
    return A


def launch(B=2, T=39):
    k = torch.randn(B, T, 2, 32, device="cuda")
    g = -torch.rand(B, T, 2, device="cuda")
    beta = torch.rand(B, T, 2, device="cuda")
    A = chunk_scaled_dot_kkt_fwd(k, g, beta, 16)
    return A


def reference(k, g, beta):
    T = k.shape[1]
    t = torch.arange(T, device=k.device)
    j = (t // 16 * 16)[:, None] + torch.arange(16, device=k.device)  # the positions of t's chunk
    inside = j < t[:, None]
    j = j.clamp(max=T - 1)
    kj = k[:, j]  # [B, T, 16, H, K]
    dot = torch.einsum("bthd,btjhd->bthj", k, kj)
    decay = torch.exp(g[:, :, None] - g[:, j]).transpose(2, 3)
    return torch.where(inside[:, None, :], beta[..., None] * decay * dot, 0.0)


TRUTH = "verified"
