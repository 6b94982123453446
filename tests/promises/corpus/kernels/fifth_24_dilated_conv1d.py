"""Dilated convolution along time, channels by a dot product, with padding on both sides."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def conv1d_kernel(
    x_ptr, w_ptr, y_ptr, C_IN, C_OUT, L, sxb, sxc, sxl, swo, swc, swk, syb, syc, syl,
    K: tl.constexpr, DILATION: tl.constexpr, PAD: tl.constexpr,
    BLOCK_O: tl.constexpr, BLOCK_L: tl.constexpr, BLOCK_C: tl.constexpr,
):
    batch = tl.program_id(2)
    offs_o = tl.program_id(0) * BLOCK_O + tl.arange(0, BLOCK_O)
    offs_l = tl.program_id(1) * BLOCK_L + tl.arange(0, BLOCK_L)
    acc = tl.zeros((BLOCK_O, BLOCK_L), dtype=tl.float32)
    for k in range(K):
        pos = offs_l + k * DILATION - PAD
        for c0 in range(0, C_IN, BLOCK_C):
            offs_c = c0 + tl.arange(0, BLOCK_C)
            w = tl.load(
                w_ptr + offs_o[:, None] * swo + offs_c[None, :] * swc + k * swk,
                mask=(offs_o[:, None] < C_OUT) & (offs_c[None, :] < C_IN), other=0.0,
            )
            x = tl.load(
                x_ptr + batch * sxb + offs_c[:, None] * sxc + pos[None, :] * sxl,
                mask=(offs_c[:, None] < C_IN) & (pos[None, :] >= 0) & (offs_l[None, :] < L), other=0.0,
            )
            acc += tl.dot(w, x, allow_tf32=False)
    tl.store(
        y_ptr + batch * syb + offs_o[:, None] * syc + offs_l[None, :] * syl, acc,
        mask=(offs_o[:, None] < C_OUT) & (offs_l[None, :] < L),
    )


def launch():
    batch, c_in, c_out, length = 2, 20, 24, 45
    x = torch.randn(batch, c_in, length)
    weight = torch.randn(c_out, c_in, 3)
    y = torch.empty(batch, c_out, length)
    grid = (triton.cdiv(c_out, 16), triton.cdiv(length, 16), batch)
    conv1d_kernel[grid](
        x, weight, y, c_in, c_out, length, *x.stride(), *weight.stride(), *y.stride(),
        K=3, DILATION=2, PAD=2, BLOCK_O=16, BLOCK_L=16, BLOCK_C=16,
    )
    return y


def reference(x, weight):
    return torch.nn.functional.conv1d(x, weight, padding=2, dilation=2)
