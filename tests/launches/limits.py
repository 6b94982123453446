"""Kernels with 32-bit numbers that the number of a tensor's elements says nothing of."""

import torch
import triton
import triton.language as tl


@triton.jit
def window_kernel(x_ptr, out_ptr, n, start, width, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (at >= start) & (at < start + width)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.where(inside, x, 0.0), mask=at < n)


def launch_window(n=101, start=7, width=40):
    """The end of the window is no tensor's size."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    window_kernel[(triton.cdiv(n, 64),)](x, out, n, start, width, BLOCK=64)
    return out


@triton.jit
def rows_kernel(x_ptr, out_ptr, m, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.arange(0, ROWS)
    cols = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < m) & (cols[None, :] < n)
    at = rows[:, None] * n + cols[None, :]      # a row that is masked out may lie beyond 32 bits
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) * 2, mask=mask)


def launch_rows(m=5, n=101):
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    rows_kernel[(triton.cdiv(n, 64),)](x, out, m, n, ROWS=8, BLOCK=64)
    return out


@triton.jit
def scaled_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.where(at < n * 33554432, x, 0.0), mask=at < n)


def launch_scaled(n=101):
    """101·2^25 is beyond 32 bits: the launch itself breaks what would have to be assumed."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    scaled_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


def launch_scaled_at_once():
    """The same with a number in place of the size: here, too, the product wraps around, and nothing is less than it."""
    return launch_scaled(101)


@triton.jit
def data_kernel(x_ptr, i_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.load(i_ptr + at, mask=at < n, other=0)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, tl.where(i * 3 < at, x, 0.0), mask=at < n)


def launch_data(n=101):
    """No size says how large three times an element is."""
    x, i = torch.randn(n, device="cuda"), torch.arange(n, dtype=torch.int32, device="cuda")
    out = torch.empty_like(x)
    data_kernel[(triton.cdiv(n, 64),)](x, i, out, n, BLOCK=64)
    return out


def launch_one_each(n=101):
    """As many programs as blocks: that each has one block holds by itself, and is nothing that is needed."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    blocks = triton.cdiv(n, 64)
    if triton.cdiv(blocks, blocks) != 1:
        return x
    window_kernel[(blocks,)](x, out, n, 0, n, BLOCK=64)
    return out
