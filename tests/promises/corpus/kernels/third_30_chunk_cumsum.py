"""Cumulative sum over time, column by column, the running total carried from chunk to chunk (fla's global cumsum)."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def chunk_global_cumsum_vector_kernel(s, z, T, S: tl.constexpr, BT: tl.constexpr, BS: tl.constexpr):
    i_s, i_bh = tl.program_id(0), tl.program_id(1)
    o_s = i_s * BS + tl.arange(0, BS)
    o_i = tl.arange(0, BT)
    m_s = tl.where(o_i[:, None] >= o_i[None, :], 1.0, 0.0)
    b_z = tl.zeros([BS], dtype=tl.float32)
    for i_t in range(tl.cdiv(T, BT)):
        o_t = i_t * BT + o_i
        p = i_bh * T * S + o_t[:, None] * S + o_s[None, :]
        mask = (o_t[:, None] < T) & (o_s[None, :] < S)
        b_s = tl.load(s + p, mask=mask, other=0.0).to(tl.float32)
        b_c = b_z[None, :] + tl.dot(m_s, b_s, input_precision="ieee")
        tl.store(z + p, b_c, mask=mask)
        b_z += tl.sum(b_s, 0)


def launch(s):
    B, H, T, S = s.shape
    z = torch.empty_like(s, dtype=torch.float32)
    grid = (triton.cdiv(S, 16), B * H)
    chunk_global_cumsum_vector_kernel[grid](s, z, T, S=S, BT=16, BS=16)
    return z


def reference(s):
    return s.float().cumsum(dim=2)


def inputs(B=2, H=2, T=43, S=20):
    return (torch.randn(B, H, T, S),)
