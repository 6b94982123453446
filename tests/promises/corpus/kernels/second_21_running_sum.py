"""Cumulative sum along rows of any length, block by block with a carry."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
        tl.store(out_ptr + row * N + cols, tl.cumsum(x, axis=0) + carry, mask=mask)
        carry += tl.sum(x, axis=0)


def launch(M=3, N=77):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    cumsum_kernel[(M,)](x, out, N, BLOCK=32)
    return out


def reference(x):
    return torch.cumsum(x, dim=-1)


TRUTH = "verified"
