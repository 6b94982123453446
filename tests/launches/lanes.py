"""Kernels that move lanes about or count them, right and wrong; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def bins_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    counts = tl.histogram(x, BINS, mask=offsets < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


def launch_bins(n=100):
    """A histogram, added up over the programs; what is negative or too large is in no bin."""
    x = torch.randint(-3, 12, (n,), dtype=torch.int32, device="cuda")
    out = torch.zeros(8, dtype=torch.int32, device="cuda")
    bins_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16, BINS=8)
    return out


@triton.jit
def bins_unmasked_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))


def launch_bins_unmasked(n=100):
    """What lies behind the last element is counted, whatever it is."""
    x = torch.randint(0, 8, (n,), dtype=torch.int32, device="cuda")
    out = torch.zeros(8, dtype=torch.int32, device="cuda")
    bins_unmasked_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16, BINS=8)
    return out


@triton.jit
def gathered_kernel(x_ptr, which_ptr, out_ptr, ROWS: tl.constexpr, LANES: tl.constexpr, FOUND: tl.constexpr):
    rows, lanes, found = tl.arange(0, ROWS)[:, None], tl.arange(0, LANES)[None, :], tl.arange(0, FOUND)[None, :]
    start = tl.program_id(0) * ROWS
    x = tl.load(x_ptr + (start + rows) * LANES + lanes)
    which = tl.load(which_ptr + (start + rows) * FOUND + found)
    which = tl.minimum(tl.maximum(which, 0), LANES - 1)
    tl.store(out_ptr + (start + rows) * FOUND + found, tl.gather(x, which, axis=1))


def launch_gathered(m=5):
    """Lanes by their number, which is kept in range."""
    x = torch.randn(4 * m, 16, device="cuda")
    which = torch.randint(-3, 20, (4 * m, 8), dtype=torch.int32, device="cuda")
    out = torch.empty(4 * m, 8, device="cuda")
    gathered_kernel[(m,)](x, which, out, ROWS=4, LANES=16, FOUND=8)
    return out


@triton.jit
def gathered_anywhere_kernel(x_ptr, which_ptr, out_ptr, LANES: tl.constexpr):
    lanes = tl.program_id(0) * LANES + tl.arange(0, LANES)
    x = tl.load(x_ptr + lanes)
    which = tl.load(which_ptr + lanes)
    tl.store(out_ptr + lanes, tl.gather(x, which, axis=0))


def launch_gathered_anywhere(m=5):
    """Lanes that need not be there."""
    x = torch.randn(16 * m, device="cuda")
    which = torch.randint(0, 16, (16 * m,), dtype=torch.int32, device="cuda")
    out = torch.empty_like(x)
    gathered_anywhere_kernel[(m,)](x, which, out, LANES=16)
    return out


@triton.jit
def reversed_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + n - BLOCK + lanes, mask=n - BLOCK + lanes >= 0)
    tl.store(out_ptr + row * n + lanes, tl.flip(x, 0), mask=lanes < n)


def launch_reversed(m=5, n=29):
    """A row backwards."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    reversed_kernel[(m,)](x, out, n, BLOCK=32)
    return out


@triton.jit
def reversed_late_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + lanes, mask=lanes < n)
    tl.store(out_ptr + row * n + lanes, tl.flip(x, 0), mask=lanes < n)


def launch_reversed_late(m=5, n=29):
    """The first of the turned lanes are those that were masked out."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    reversed_late_kernel[(m,)](x, out, n, BLOCK=32)
    return out


@triton.jit
def reversed_columns_kernel(x_ptr, out_ptr, ROWS: tl.constexpr, LANES: tl.constexpr):
    rows, lanes = tl.arange(0, ROWS)[:, None], tl.arange(0, LANES)[None, :]
    at = (tl.program_id(0) * ROWS + rows) * LANES + lanes
    tl.store(out_ptr + at, tl.flip(tl.load(x_ptr + at), 0))


def launch_reversed_columns(m=5):
    """Rows of integers in another order, four by four."""
    x = torch.randint(-50, 50, (4 * m, 8), dtype=torch.int32, device="cuda")
    out = torch.empty_like(x)
    reversed_columns_kernel[(m,)](x, out, ROWS=4, LANES=8)
    return out


@triton.jit
def woven_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    y = tl.load(y_ptr + lanes, mask=lanes < n)
    twice = 2 * tl.program_id(0) * BLOCK + tl.arange(0, 2 * BLOCK)
    tl.store(out_ptr + twice, tl.interleave(x, y), mask=twice < 2 * n)


def launch_woven(n=100):
    """Two rows into one, by turns."""
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty(2 * n, device="cuda")
    woven_kernel[(triton.cdiv(n, 16),)](x, y, out, n, BLOCK=16)
    return out


@triton.jit
def rotated_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    a, b = tl.split(tl.reshape(x, [BLOCK // 2, 2]))
    tl.store(out_ptr + lanes, tl.reshape(tl.join(-b, a), [BLOCK]), mask=lanes < n)


def launch_rotated(m=50):
    """Pairs taken apart and put together."""
    x = torch.randn(2 * m, device="cuda")
    out = torch.empty_like(x)
    rotated_kernel[(triton.cdiv(2 * m, 16),)](x, out, 2 * m, BLOCK=16)
    return out


@triton.jit
def sorted_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.sort(tl.load(x_ptr + lanes)))


def launch_sorted(m=5):
    x = torch.randn(m, 64, device="cuda")
    out = torch.empty_like(x)
    sorted_kernel[(m,)](x, out, BLOCK=64)
    return out


@triton.jit
def greatest_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK))
    tl.store(out_ptr + row * 4 + tl.arange(0, 4), tl.topk(x, 4))


def launch_greatest(m=5):
    x = torch.randint(-9, 9, (m, 64), dtype=torch.int32, device="cuda")
    out = torch.empty(m, 4, dtype=torch.int32, device="cuda")
    greatest_kernel[(m,)](x, out, BLOCK=64)
    return out
