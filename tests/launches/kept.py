"""Launches in which what memory held before counts: filled by the host, written in part, or by two kernels. A function
`launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def slot_kernel(cache_ptr, x_ptr, slot, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(cache_ptr + slot * n + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def launch_slot(slots=10, n=29):
    """One row of a tensor is written; the others keep what they held."""
    cache = torch.randn(slots, n, device="cuda")
    x = torch.randn(n, device="cuda")
    slot_kernel[(1,)](cache, x, 1, n, BLOCK=32)
    return cache


def launch_slot_of_nothing(slots=10, n=29):
    """The same in memory that nobody has written to."""
    cache = torch.empty(slots, n, device="cuda")
    x = torch.randn(n, device="cuda")
    slot_kernel[(1,)](cache, x, 1, n, BLOCK=32)
    return cache


@triton.jit
def rows_kernel(cache_ptr, x_ptr, slots_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    slot = tl.load(slots_ptr + row)
    tl.store(cache_ptr + slot * n + i, tl.load(x_ptr + row * n + i, mask=i < n), mask=i < n)


def launch_slots_by_data(slots=10, m=4, n=29):
    """Which rows are written is data."""
    cache = torch.randn(slots, n, device="cuda")
    x = torch.randn(m, n, device="cuda")
    rows = torch.randperm(slots, device="cuda")[:m]
    rows_kernel[(m,)](cache, x, rows, n, BLOCK=32)
    return cache


@triton.jit
def part_kernel(x_ptr, out_ptr, n, start, stop, BLOCK: tl.constexpr):
    i = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < stop) * 2.0, mask=i < stop)


def halves(x, parts):
    n = x.shape[0]
    out = torch.empty_like(x)
    for start, stop in parts(n):
        part_kernel[(triton.cdiv(n, 32),)](x, out, n, start, stop, BLOCK=32)
    return out


def launch_two_halves(n=100):
    """Two launches that write half of a tensor each."""
    return halves(torch.randn(n, device="cuda"), lambda n: [(0, n // 2), (n // 2, n)])


def launch_two_halves_with_a_hole(n=100):
    return halves(torch.randn(n, device="cuda"), lambda n: [(0, n // 2), (n // 2 + 1, n)])


def launch_one_half(n=100):
    return halves(torch.randn(n, device="cuda"), lambda n: [(0, n // 2)])


@triton.jit
def first_half_kernel(x_ptr, out_ptr, half, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < half) * 2.0, mask=i < half)


def half_of(x, out):
    half = x.shape[0] // 2
    first_half_kernel[(triton.cdiv(half, 32),)](x, out, half, BLOCK=32)
    return out


def filled(x):
    out = torch.empty_like(x)
    out.fill_(3.0)
    return half_of(x, out)


def zeroed_late(x):
    out = torch.empty_like(x)
    out.zero_()
    return half_of(x, out)


def copied(x):
    out = torch.empty_like(x)
    out.copy_(x)
    return half_of(x, out)


def filled_in_part(x):
    out = torch.empty_like(x)
    out[: x.shape[0] // 3].fill_(3.0)
    return half_of(x, out)


def launch_filled(n=100):
    return filled(torch.randn(n, device="cuda"))


def launch_zeroed_late(n=100):
    return zeroed_late(torch.randn(n, device="cuda"))


def launch_copied(n=100):
    return copied(torch.randn(n, device="cuda"))


def launch_filled_in_part(n=100):
    """The host fills a third, the kernel writes half, and the rest is nobody's."""
    return filled_in_part(torch.randn(n, device="cuda"))


def reference_filled(x):
    i = torch.arange(x.shape[0])
    return torch.where(i < x.shape[0] // 2, 2 * x, 3.0)


def reference_copied(x):
    i = torch.arange(x.shape[0])
    return torch.where(i < x.shape[0] // 2, 2 * x, x)


@triton.jit
def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))


def launch_sum_into_fill(n=100):
    x = torch.randn(n, device="cuda")
    total = torch.empty(1, device="cuda").fill_(5.0)
    sum_kernel[(triton.cdiv(n, 32),)](x, total, n, BLOCK=32)
    return total


def summed_from_nothing(x):
    total = torch.empty(1, device=x.device)
    sum_kernel[(triton.cdiv(x.shape[0], 32),)](x, total, x.shape[0], BLOCK=32)
    return total


def launch_sum_into_nothing(n=100):
    return summed_from_nothing(torch.randn(n, device="cuda"))


def launch_behind_the_first(n=100):
    """The output is a view that begins behind the first element."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(n + 1, device="cuda")[1:]
    part_kernel[(triton.cdiv(n, 32),)](x, out, n, 0, n, BLOCK=32)
    return out


def launch_behind_the_first_too_far(n=100):
    """The same, with a kernel that takes it to be one longer."""
    x = torch.randn(n + 1, device="cuda")
    out = torch.empty(n + 1, device="cuda")[1:]
    part_kernel[(triton.cdiv(n + 1, 32),)](x, out, n, 0, n + 1, BLOCK=32)
    return out


@triton.jit
def outer_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row * stride + i, tl.load(x_ptr + row * n + i, mask=i < n), mask=i < n)


def launch_into_one_row(m=7, n=29):
    """An output whose rows are all the same memory."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(n, device="cuda").expand(m, n)
    outer_kernel[(m,)](x, out, n, out.stride(0), BLOCK=32)
    return out
