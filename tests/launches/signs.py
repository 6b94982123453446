"""A masked row of −∞ less itself, which is NaN."""

import torch
import triton
import triton.language as tl


@triton.jit
def marked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-float("inf"))
    less = x - x
    tl.store(out_ptr + i, tl.where(less != less, 0.0, 1.0))


def launch_marked(n=5):
    x, out = torch.randn(n), torch.empty(8)
    marked[(1,)](x, out, n, BLOCK=8)
    return out


def ones(x):
    return torch.ones(8)
