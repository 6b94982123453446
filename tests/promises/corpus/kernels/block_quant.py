"""Quantisation of blocks of 32 numbers to int8 with a scale for each, and back."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def quant_kernel(x_ptr, q_ptr, s_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    g = tl.program_id(1)
    i = g * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i)
    s = tl.max(tl.abs(x), axis=0) / 127.0
    q = tl.where(s > 0, x / s, 0.0)
    tl.store(q_ptr + row * N + i, q)
    tl.store(s_ptr + row * (N // BLOCK) + g, s)


def launch(M=3, N=96):
    x = torch.randn(M, N, device="cuda")
    q = torch.empty_like(x)
    s = torch.empty(M, N // 32, device="cuda")
    quant_kernel[(M, N // 32)](x, q, s, N, BLOCK=32)
    return q, s


def reference(x):
    blocks = x.reshape(x.shape[0], -1, 32)
    s = blocks.abs().amax(-1) / 127.0
    q = torch.where(s[..., None] > 0, blocks / s[..., None], 0.0)
    return q.reshape(x.shape), s
