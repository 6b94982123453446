"""Tensors that are added to: what is added to is read."""

import torch
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, lens_ptr, mid_ptr, n, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    inside = s < tl.load(lens_ptr + row)
    x = tl.load(x_ptr + row * n + s, mask=inside & (s < n), other=0.0)
    tl.store(mid_ptr + row * n + s, 2 * x, mask=inside & (s < n))


@triton.jit
def add_kernel(x_ptr, mid_ptr, n, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + s, mask=s < n, other=0.0)
    tl.atomic_add(mid_ptr + row * n + s, x, mask=s < n)


def launch_to_a_part(rows=5, n=12):
    """Of what nobody wrote there is no sum."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid = torch.empty(rows, n, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    add_kernel[(rows,)](x, mid, n, BLOCK=16)
    return mid


@triton.jit
def half_kernel(x_ptr, mid_ptr, n, lo, hi, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    inside = (lo <= s) & (s < hi)
    tl.store(mid_ptr + row * n + s, 2 * tl.load(x_ptr + row * n + s, mask=inside, other=0.0), mask=inside)


def launch_to_two_halves(rows=5, n=12):
    x, mid = torch.randn(rows, n, device="cuda"), torch.empty(rows, n, device="cuda")
    half_kernel[(rows,)](x, mid, n, 0, n // 2, BLOCK=16)
    half_kernel[(rows,)](x, mid, n, n // 2, n, BLOCK=16)
    add_kernel[(rows,)](x, mid, n, BLOCK=16)
    return mid


def three_times(x):
    return 3 * x
