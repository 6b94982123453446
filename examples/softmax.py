"""Softmax of each row as a Triton kernel, and what it should compute. No GPU is needed:

    samesame lift softmax.py:launch --against softmax.py:reference
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, x_row, out_row, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + cols, mask=cols < N, other=-float("inf"))
    shifted = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + cols, shifted / tl.sum(shifted, axis=0), mask=cols < N)


def launch(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    softmax_kernel[(M,)](x, out, x.stride(0), out.stride(0), N, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x):
    return torch.softmax(x, dim=-1)
