"""Kernels and wrappers on which it is easy to be wrong: what holds at the example's sizes only, numbers that wrap around,
memory under two names, loops that do not count. A function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + o, tl.load(x_ptr + o, mask=o < n) * SCALE, mask=o < n)


def launch_scale_by_size(n=37):
    """A constant of the kernel that is another one at each size."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(n, 64),)](x, out, n, SCALE=2 * n + 1, BLOCK=64)
    return out


def launch_scale_by_power(n=37):
    """The same with the power of 2 above the size."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(n, 64),)](x, out, n, SCALE=triton.next_power_of_2(n), BLOCK=64)
    return out


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row * stride + c, tl.load(x_ptr + row * n + c, mask=c < n), mask=c < n)


def launch_square(m=32, n=32):
    """Rows that begin m elements apart instead of n: right for squares."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    rows_kernel[(m,)](x, out, n, m, BLOCK=64)
    return out
