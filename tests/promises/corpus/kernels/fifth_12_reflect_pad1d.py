"""Reflection padding of the last dimension, left and right by other amounts."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def reflect_pad_kernel(in_ptr, out_ptr, W_in, W_out, pad_left, BLOCK_W: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = offs < W_out
    x = offs - pad_left
    x = tl.where(x < 0, -x, x)
    x = tl.where(x >= W_in, 2 * (W_in - 1) - x, x)
    value = tl.load(in_ptr + row * W_in + x, mask=mask, other=0.0)
    tl.store(out_ptr + row * W_out + offs, value, mask=mask)


def launch():
    B, C, W, left, right = 3, 5, 75, 11, 14
    if left >= W or right >= W:
        raise ValueError("padding has to be less than the input's width")
    x = torch.randn(B, C, W)
    W_out = W + left + right
    out = torch.empty(B, C, W_out)
    reflect_pad_kernel[(B * C, triton.cdiv(W_out, 32))](x, out, W, W_out, left, BLOCK_W=32)
    return out


def reference(x):
    return torch.nn.functional.pad(x, (11, 14), mode="reflect")
