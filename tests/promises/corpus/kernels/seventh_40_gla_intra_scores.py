"""GLA, scores inside of a chunk with a gate for each key dimension, a column at a time (no factorisation of the decay)."""
import torch
import triton
import triton.language as tl


@triton.jit
def chunk_gla_fwd_A_kernel_intra(q, k, g, A, scale, T, K, BC: tl.constexpr, BK: tl.constexpr):
    i_c, i_bh = tl.program_id(0), tl.program_id(1)
    o_i = tl.arange(0, BC)
    o_k = tl.arange(0, BK)
    row = i_bh * T + i_c * BC
    at = (row + o_i)[:, None] * K + o_k[None, :]
    m_k = o_k[None, :] < K
    b_q = tl.load(q + at, mask=m_k, other=0.0)
    b_g = tl.load(g + at, mask=m_k, other=0.0)
    for j in range(0, BC):
        b_kj = tl.load(k + (row + j) * K + o_k, mask=o_k < K, other=0.0)
        b_gj = tl.load(g + (row + j) * K + o_k, mask=o_k < K, other=0.0)
        col = tl.sum(b_q * b_kj[None, :] * tl.exp(b_g - b_gj[None, :]), axis=1) * scale
        tl.store(A + (row + o_i) * BC + j, col, mask=o_i >= j)


def launch(BH=3, chunks=2, K=24):
    BC = 16
    T = chunks * 16
    q = torch.randn(BH, T, K, device="cuda")
    k = torch.randn(BH, T, K, device="cuda")
    g = (-0.1 * torch.rand(BH, T, K, device="cuda")).unflatten(1, (-1, BC)).cumsum(2).flatten(1, 2)
    A = torch.empty(BH, T, BC, device="cuda")
    chunk_gla_fwd_A_kernel_intra[(chunks, BH)](q, k, g, A, 0.2, T, K, BC=BC, BK=triton.next_power_of_2(K))
    return A


def reference(q, k, g):
    q, k, g = (x.unflatten(1, (-1, 16)) for x in (q, k, g))
    decay = torch.exp(g[:, :, :, None] - g[:, :, None, :])
    A = 0.2 * torch.einsum("bcik,bcjk,bcijk->bcij", q, k, decay)
    return A.tril().flatten(1, 2)


# what lies above the diagonal is never written (A is torch.empty)
TRUTH = "broken"
