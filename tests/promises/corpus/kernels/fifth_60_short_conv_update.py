"""Decode step of a short depthwise convolution: shift the cache by one, append the token, convolve, SiLU."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def short_conv_update_kernel(x, cache, new_cache, weight, bias, y, D, W: tl.constexpr, BD: tl.constexpr,
                             HAS_BIAS: tl.constexpr):
    i_d, i_n = tl.program_id(0), tl.program_id(1)
    o_d = i_d * BD + tl.arange(0, BD)
    o_w = tl.arange(0, W)
    m_d = o_d < D
    p_cache = (i_n * D + o_d[:, None]) * W + o_w[None, :]
    b_x = tl.load(x + i_n * D + o_d, mask=m_d, other=0.0)
    b_cache = tl.load(cache + p_cache + 1, mask=m_d[:, None] & (o_w[None, :] < W - 1), other=0.0)
    b_cache = tl.where(o_w[None, :] == W - 1, b_x[:, None], b_cache)
    tl.store(new_cache + p_cache, b_cache, mask=m_d[:, None])
    b_w = tl.load(weight + o_d[:, None] * W + o_w[None, :], mask=m_d[:, None], other=0.0)
    b_y = tl.sum(b_cache * b_w, axis=1)
    if HAS_BIAS:
        b_y += tl.load(bias + o_d, mask=m_d, other=0.0)
    b_y = b_y * tl.sigmoid(b_y)
    tl.store(y + i_n * D + o_d, b_y, mask=m_d)


def launch():
    N, D, W = 5, 200, 4
    x = torch.randn(N, D)
    cache = torch.randn(N, D, W)
    weight = torch.randn(D, W)
    bias = torch.randn(D)
    new_cache = torch.empty_like(cache)
    y = torch.empty_like(x)
    short_conv_update_kernel[(triton.cdiv(D, 64), N)](x, cache, new_cache, weight, bias, y, D, W=W, BD=64,
                                                      HAS_BIAS=bias is not None)
    return y, new_cache


def reference(x, cache, weight, bias):
    shifted = torch.cat([cache[:, :, 1:], x[:, :, None]], dim=-1)
    return F.silu((shifted * weight).sum(-1) + bias), shifted
