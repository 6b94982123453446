"""Kernels with while loops, which count in several ways or do not; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def strided_kernel(x_ptr, out_ptr, n):
    at = tl.program_id(0)
    step = tl.num_programs(0)
    while at < n:
        tl.store(out_ptr + at, 2 * tl.load(x_ptr + at))
        at += step


def launch_strided(n=100):
    """Each program takes every so many elements as there are programs."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    strided_kernel[(triton.cdiv(n, 4),)](x, out, n)
    return out


@triton.jit
def strided_too_far_kernel(x_ptr, out_ptr, n):
    at = tl.program_id(0)
    step = tl.num_programs(0)
    while at < n:
        tl.store(out_ptr + at, 2 * tl.load(x_ptr + at))
        at += step + 1


def launch_strided_too_far(n=100):
    """Elements between are left out."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    strided_too_far_kernel[(triton.cdiv(n, 4),)](x, out, n)
    return out


@triton.jit
def down_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    left = n
    while left > 0:
        at = left - BLOCK + lanes
        total += tl.load(x_ptr + row * n + at, mask=at >= 0, other=0.0)
        left -= BLOCK
    tl.store(out_ptr + row, tl.sum(total, axis=0))


def launch_down(m=5, n=100):
    """Blocks from the end of a row to its beginning."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    down_kernel[(m,)](x, out, n, BLOCK=16)
    return out


@triton.jit
def down_unmasked_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    left = n
    while left > 0:
        total += tl.load(x_ptr + row * n + left - BLOCK + lanes)
        left -= BLOCK
    tl.store(out_ptr + row, tl.sum(total, axis=0))


def launch_down_unmasked(m=5, n=100):
    """The last block begins before the row."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    down_unmasked_kernel[(m,)](x, out, n, BLOCK=16)
    return out


@triton.jit
def until_kernel(x_ptr, out_ptr, n):
    row = tl.program_id(0)
    total = 0.0
    k = 0
    while k != n:
        total += tl.load(x_ptr + row * n + k)
        k += 1
    tl.store(out_ptr + row, total)


def launch_until(m=5, n=40):
    """Until the counter is the bound."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    until_kernel[(m,)](x, out, n)
    return out


@triton.jit
def until_past_kernel(x_ptr, out_ptr, n):
    row = tl.program_id(0)
    total = 0.0
    k = 0
    while k != n:
        total += tl.load(x_ptr + row * n + k)
        k += 2
    tl.store(out_ptr + row, total)


def launch_until_past(m=5, n=40):
    """A counter that may step over the bound, and then goes on."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    until_past_kernel[(m,)](x, out, n)
    return out


@triton.jit
def both_kernel(x_ptr, out_ptr, n, most):
    row = tl.program_id(0)
    total = 0.0
    k = 0
    while (k < n) & (2 * k < most):
        total += tl.load(x_ptr + row * n + k)
        k += 1
    tl.store(out_ptr + row, total)


def launch_both(m=5, n=40, most=30):
    """As long as two conditions hold."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    both_kernel[(m,)](x, out, n, most)
    return out


@triton.jit
def doubled_kernel(x_ptr, out_ptr, n):
    row = tl.program_id(0)
    total = 0.0
    k = 1
    while k < n:
        total += tl.load(x_ptr + row * n + k)
        k *= 2
    tl.store(out_ptr + row, total)


def launch_doubled(m=5, n=40):
    """A counter that is multiplied."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    doubled_kernel[(m,)](x, out, n)
    return out


@triton.jit
def still_kernel(x_ptr, out_ptr, n, step):
    row = tl.program_id(0)
    total = 0.0
    k = 0
    while k < n:
        total += tl.load(x_ptr + row * n + k)
        k += step - 3
    tl.store(out_ptr + row, total)


def launch_still(m=5, n=40, step=4):
    """A step that may be none at all."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    still_kernel[(m,)](x, out, n, step)
    return out


@triton.jit
def found_kernel(x_ptr, out_ptr, n):
    row = tl.program_id(0)
    k = 0
    while tl.load(x_ptr + row * n + k) > 0:
        k += 1
    tl.store(out_ptr + row, k)


def launch_found(m=5, n=40):
    """How long the loop runs is up to the data."""
    x = -torch.rand(m, n, device="cuda")
    out = torch.empty(m, dtype=torch.int32, device="cuda")
    found_kernel[(m,)](x, out, n)
    return out


@triton.jit
def by_program_kernel(x_ptr, out_ptr, n):
    row = tl.program_id(0)
    total = 0.0
    for k in range(0, n, row):
        total += tl.load(x_ptr + row * n + k)
    tl.store(out_ptr + row, total)


def launch_by_program(m=5, n=40):
    """The first program goes on without end."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    by_program_kernel[(m,)](x, out, n)
    return out
