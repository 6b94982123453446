import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=['T'])
def chunk_global_cumsum_scalar_kernel(
    s,
    o,
    T,
    B: tl.constexpr,
    H: tl.constexpr,
    BT: tl.constexpr,
):
    i_bh = tl.program_id(0)
    i_b, i_h = i_bh // H, i_bh % H
    b_z = tl.zeros([], dtype=tl.float32)
    NT = tl.cdiv(T, BT)
    for i_c in range(NT):
        o_t = i_c * BT + tl.arange(0, BT)
        m_t = o_t < T
        b_s = tl.load(s + i_b * T * H + o_t * H + i_h, mask=m_t, other=0.).to(tl.float32)
        b_o = tl.cumsum(b_s, axis=0)
        b_ss = tl.sum(b_s, 0)
        b_o += b_z
        if i_c >= 0:
            b_z = b_ss
        tl.store(o + i_b * T * H + o_t * H + i_h, b_o, mask=m_t)


def chunk_global_cumsum_scalar(s):
    B, T, H = s.shape
    z = torch.empty_like(s, dtype=torch.float)
    chunk_global_cumsum_scalar_kernel[(B * H,)](s=s, o=z, T=T, B=B, H=H, BT=16)
    return z


def launch():
    B, T, H = 2, 53, 3
    s = torch.randn(B, T, H)
    return chunk_global_cumsum_scalar(s)


def reference(s):
    return s.cumsum(dim=1)


TRUTH = "broken"
