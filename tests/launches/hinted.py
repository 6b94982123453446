"""Launches of kernels that give the compiler hints: what it may take for granted, be it so or not. A function
`launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def blocks_kernel(x_ptr, out_ptr, n, MULTIPLE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = tl.max_contiguous(tl.multiple_of(i, MULTIPLE), MULTIPLE)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


def in_blocks(multiple, n, block=64):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    blocks_kernel[(triton.cdiv(n, block),)](x, out, n, MULTIPLE=multiple, BLOCK=block)
    return out


def launch_blocks(n=1000):
    """Lanes of a block, which begins at a multiple of its length."""
    return in_blocks(64, n)


def launch_parts_of_blocks(n=1000):
    return in_blocks(16, n)


@triton.jit
def odd_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.multiple_of(tl.program_id(0) * 63, 64)
    i = first + tl.arange(0, BLOCK)
    inside = (i < n) & (tl.arange(0, BLOCK) < 63)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside) * 2.0, mask=inside)


def launch_odd_blocks(n=1000):
    """Blocks of 63 that are said to begin at multiples of 64."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    odd_kernel[(triton.cdiv(n, 63),)](x, out, n, BLOCK=64)
    return out


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first, i = tl.multiple_of(tl.program_id(0) * n, 16), tl.arange(0, BLOCK)
    tl.store(out_ptr + first + i, tl.load(x_ptr + first + i, mask=i < n) * 2.0, mask=i < n)


def rows(m, n):
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    rows_kernel[(m,)](x, out, n, BLOCK=128)
    return out


def launch_rows_of_16(m=7, n=96):
    """Rows whose length is a multiple of 16 in the example."""
    return rows(m, n)


def launch_rows_of_any(m=7, n=100):
    return rows(m, n)


@triton.jit
def stepped_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.max_contiguous(n - 1 - i, 16)
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n) * 2.0, mask=i < n)


def launch_backwards(n=1000):
    """Positions that run backwards, and are said to run forwards."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    stepped_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


@triton.jit
def constant_kernel(x_ptr, out_ptr, n, EACH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.max_constancy(i // EACH, 8)
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n) * 2.0, mask=i < n)


def repeated(each, n):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    constant_kernel[(triton.cdiv(n, 64),)](x, out, n, EACH=each, BLOCK=64)
    return out


def launch_repeated(n=1000):
    return repeated(8, n)


def launch_repeated_less(n=1000):
    """Each element four times, and said to be eight."""
    return repeated(4, n)


@triton.jit
def short_kernel(x_ptr, out_ptr, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    tl.assume(n < LIMIT)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


def short(n, limit):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    short_kernel[(triton.cdiv(n, 64),)](x, out, n, LIMIT=limit, BLOCK=64)
    return out


def launch_assumed_short(n=1000):
    return short(n, 2000)


def launch_assumed_too_short(n=1000):
    """Said to be shorter than it is."""
    return short(n, 1000)


@triton.jit
def sure_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0)
    tl.assume(first >= 0)
    i = first * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


def launch_assumed_anyway(n=1000):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    sure_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


@triton.jit
def label_kernel(labels_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    label = tl.load(labels_ptr + i)
    tl.assume(label >= 0)
    tl.store(out_ptr + i, label * 2)


def labelled(labels):
    out = torch.empty_like(labels)
    label_kernel[(labels.shape[0],)](labels, out, labels.shape[0], BLOCK=64)
    return out


def launch_labels_assumed(n=37):
    return labelled(torch.arange(n, device="cuda"))


def launch_labels_below_zero(n=37):
    return labelled(torch.arange(n, device="cuda") - 3)
