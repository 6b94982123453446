"""Gate cumsum over time in the linear-attention manner: a triangular matrix product for each chunk and a carried total."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def chunk_global_cumsum_vector_kernel(s, z, T, S, BT: tl.constexpr, BS: tl.constexpr):
    i_s, i_bh = tl.program_id(0), tl.program_id(1)
    o_i = tl.arange(0, BT)
    o_s = i_s * BS + tl.arange(0, BS)
    m_s = tl.where(o_i[:, None] >= o_i[None, :], 1.0, 0.0)
    b_z = tl.zeros([BS], dtype=tl.float32)
    for i_t in range(tl.cdiv(T, BT)):
        o_t = i_t * BT + o_i
        mask = (o_t[:, None] < T) & (o_s[None, :] < S)
        offs = i_bh * T * S + o_t[:, None] * S + o_s[None, :]
        b_s = tl.load(s + offs, mask=mask, other=0.0).to(tl.float32)
        b_c = b_z[None, :] + tl.dot(m_s, b_s, input_precision="ieee")
        tl.store(z + offs, b_c, mask=mask)
        b_z += tl.sum(b_s, axis=0)


def launch():
    gate = -torch.rand(2, 3, 90, 40)
    B, H, T, S = gate.shape
    total = torch.empty_like(gate)
    chunk_global_cumsum_vector_kernel[(triton.cdiv(S, 32), B * H)](gate, total, T, S, BT=16, BS=32)
    return total


def reference(gate):
    return gate.cumsum(dim=2)
