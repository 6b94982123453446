"""Depthwise causal convolution along time, width 4, with bias and SiLU (as in state-space models)."""

import torch
import triton
import triton.language as tl

import torch.nn.functional as F


@triton.jit
def causal_conv1d_kernel(
    x_ptr, w_ptr, b_ptr, o_ptr, C, T,
    stride_xb, stride_xc, stride_xt, WIDTH: tl.constexpr, BLOCK_T: tl.constexpr,
):
    i_b = tl.program_id(0)
    i_c = tl.program_id(1)
    o_t = tl.program_id(2) * BLOCK_T + tl.arange(0, BLOCK_T)
    base = i_b * stride_xb + i_c * stride_xc
    acc = tl.zeros([BLOCK_T], dtype=tl.float32) + tl.load(b_ptr + i_c)
    for i_w in tl.static_range(WIDTH):
        s = o_t - (WIDTH - 1) + i_w
        x = tl.load(x_ptr + base + s * stride_xt, mask=(s >= 0) & (s < T), other=0.0)
        w = tl.load(w_ptr + i_c * WIDTH + i_w)
        acc += x * w
    acc = acc * tl.sigmoid(acc)
    tl.store(o_ptr + base + o_t * stride_xt, acc, mask=o_t < T)


def causal_conv1d(x, weight, bias):
    B, C, T = x.shape
    o = torch.empty_like(x)
    grid = (B, C, triton.cdiv(T, 16))
    causal_conv1d_kernel[grid](x, weight, bias, o, C, T, *x.stride(), WIDTH=weight.shape[1], BLOCK_T=16)
    return o


def launch(B=2, C=5, T=27):
    x = torch.randn(B, C, T, device="cuda")
    weight = torch.randn(C, 4, device="cuda")
    bias = torch.randn(C, device="cuda")
    return causal_conv1d(x, weight, bias)


def reference(x, weight, bias):
    y = F.conv1d(F.pad(x, (3, 0)), weight[:, None, :], bias, groups=x.shape[1])
    return F.silu(y)


TRUTH = "verified"
