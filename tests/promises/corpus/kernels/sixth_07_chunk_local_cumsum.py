import torch
import triton
import triton.language as tl


@triton.heuristics({
    'HAS_SCALE': lambda args: args['scale'] is not None,
})
@triton.jit(do_not_specialize=['T'])
def chunk_local_cumsum_vector_kernel(
    s,
    o,
    scale,
    T,
    H: tl.constexpr,
    S: tl.constexpr,
    BT: tl.constexpr,
    BS: tl.constexpr,
    REVERSE: tl.constexpr,
    HAS_SCALE: tl.constexpr,
):
    i_s, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H

    o_t = i_t * BT + tl.arange(0, BT)
    o_s = i_s * BS + tl.arange(0, BS)
    m = (o_t < T)[:, None] & (o_s < S)[None, :]
    p = (i_b * T * H + i_h) * S + o_t[:, None] * (H * S) + o_s[None, :]
    # [BT, BS]
    b_s = tl.load(s + p, mask=m, other=0.).to(tl.float32)
    if REVERSE:
        b_o = tl.cumsum(b_s, axis=0, reverse=True)
    else:
        b_o = tl.cumsum(b_s, axis=0)
    if HAS_SCALE:
        b_o *= scale
    tl.store(o + p, b_o.to(o.dtype.element_ty), mask=m)


def chunk_local_cumsum_vector(g, chunk_size, reverse=False, scale=None):
    B, T, H, S = g.shape
    BT = chunk_size
    NT = triton.cdiv(T, BT)
    assert chunk_size == 2**(chunk_size.bit_length()-1), "chunk_size must be a power of 2"
    g_org, g = g, torch.empty_like(g, dtype=torch.float)
    grid = lambda meta: (triton.cdiv(meta['S'], meta['BS']), NT, B * H)
    chunk_local_cumsum_vector_kernel[grid](
        s=g_org, o=g, scale=scale, T=T, H=H, S=S, BT=BT, BS=16, REVERSE=reverse)
    return g


def launch(B=2, NT=3):
    g = torch.randn(B, NT * 16, 2, 20)
    return chunk_local_cumsum_vector(g, 16, scale=0.5)


def reference(g):
    B, T, H, S = g.shape
    return 0.5 * g.reshape(B, T // 16, 16, H, S).cumsum(2).reshape(B, T, H, S)


TRUTH = "verified"
