"""Depthwise causal convolution with bias and SiLU, as before Mamba's scan; x is (batch, dim, length)."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def causal_conv1d_fwd(
    x_ptr, w_ptr, b_ptr, o_ptr, dim, seqlen,
    stride_xb, stride_xd, stride_xt,
    stride_ob, stride_od, stride_ot,
    WIDTH: tl.constexpr, SILU: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_T: tl.constexpr,
):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    t = tl.program_id(2) * BLOCK_T + tl.arange(0, BLOCK_T)
    dmask = d < dim
    acc = tl.zeros((BLOCK_D, BLOCK_T), dtype=tl.float32)
    acc += tl.load(b_ptr + d, mask=dmask, other=0.0)[:, None]
    for j in tl.static_range(WIDTH):
        src = t - (WIDTH - 1) + j
        xm = dmask[:, None] & (src >= 0)[None, :] & (src < seqlen)[None, :]
        x = tl.load(x_ptr + b * stride_xb + d[:, None] * stride_xd + src[None, :] * stride_xt, mask=xm, other=0.0)
        w = tl.load(w_ptr + d * WIDTH + j, mask=dmask, other=0.0)
        acc += w[:, None] * x
    if SILU:
        acc = acc / (1 + tl.exp(-acc))
    tl.store(o_ptr + b * stride_ob + d[:, None] * stride_od + t[None, :] * stride_ot, acc,
             mask=dmask[:, None] & (t < seqlen)[None, :])


def launch(x, weight, bias):
    B, D, T = x.shape
    out = torch.empty_like(x)
    grid = (B, triton.cdiv(D, 8), triton.cdiv(T, 32))
    causal_conv1d_fwd[grid](x, weight, bias, out, D, T, *x.stride(), *out.stride(),
                            WIDTH=weight.shape[1], SILU=True, BLOCK_D=8, BLOCK_T=32)
    return out


def reference(x, weight, bias):
    dim, width = weight.shape
    y = F.conv1d(F.pad(x, (width - 1, 0)), weight.unsqueeze(1), bias, groups=dim)
    return F.silu(y)


def inputs(B=2, D=11, T=45, width=4):
    return torch.randn(B, D, T), torch.randn(D, width), torch.randn(D)
