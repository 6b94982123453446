"""Launches of two kernels, of which the first leaves a result for each of its tiles, and tiles that are cut off."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def parts_kernel(x_ptr, part_ptr, n, STEP: tl.constexpr, FIRST: tl.constexpr, SHORT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * STEP + FIRST + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n - SHORT, other=0.0)
    tl.store(part_ptr + tl.program_id(0), tl.sum(x * x, 0))


@triton.jit
def whole_kernel(part_ptr, out_ptr, parts, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(part_ptr + lanes, mask=lanes < parts, other=0.0), 0))


def squares(x, *, step=8, first=0, short=0, missing=0, lanes=0):
    (n,) = x.shape
    parts = triton.cdiv(n, 8)
    part = torch.empty(parts, device="cuda")
    out = torch.empty(1, device="cuda")
    parts_kernel[(parts,)](x, part, n, STEP=step, FIRST=first, SHORT=short, BLOCK=8)
    whole_kernel[(1,)](part, out, parts - missing, BLOCK=lanes or triton.next_power_of_2(parts))
    return out


def launch_squares(n=61):
    x = torch.randn(n, device="cuda")
    return squares(x)


def launch_squares_overlapping(n=61):
    x = torch.randn(n, device="cuda")
    return squares(x, step=7)


def launch_squares_with_gaps(n=61):
    x = torch.randn(n, device="cuda")
    return squares(x, step=9)


def launch_squares_from_the_second(n=61):
    x = torch.randn(n, device="cuda")
    return squares(x, first=1)


def launch_squares_without_the_last(n=61):
    x = torch.randn(n, device="cuda")
    return squares(x, short=1)


def launch_squares_without_a_block(n=61):
    x = torch.randn(n, device="cuda")
    return squares(x, missing=1)


def launch_squares_of_few_blocks(n=61):
    """Right at 61, where there are 8 blocks, and wrong at 65: nothing says that the lanes are enough."""
    x = torch.randn(n, device="cuda")
    return squares(x, lanes=8)


def sum_of_squares(x):
    return (x * x).sum().reshape(1)


@triton.jit
def groups_kernel(x_ptr, part_ptr, m, n, PER: tl.constexpr, MOST: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    start = tl.program_id(0) * PER
    for row in range(start, tl.minimum(start + MOST, m)):
        total += tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
    tl.store(part_ptr + tl.program_id(0) * n + columns, total, mask=columns < n)


@triton.jit
def groups_sum_kernel(part_ptr, out_ptr, parts, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(parts):
        total += tl.load(part_ptr + row * n + columns, mask=columns < n, other=0.0)
    tl.store(out_ptr + columns, total, mask=columns < n)


def groups(x, most):
    m, n = x.shape
    parts = triton.cdiv(m, 4)
    part = torch.empty(parts, n, device="cuda")
    out = torch.empty(n, device="cuda")
    groups_kernel[(parts,)](x, part, m, n, PER=4, MOST=most, BLOCK=16)
    groups_sum_kernel[(1,)](part, out, parts, n, BLOCK=16)
    return out


def launch_groups(m=23, n=11):
    x = torch.randn(m, n, device="cuda")
    return groups(x, 4)


def launch_groups_without_a_row(m=23, n=11):
    x = torch.randn(m, n, device="cuda")
    return groups(x, 3)


def launch_groups_overlapping(m=23, n=11):
    x = torch.randn(m, n, device="cuda")
    return groups(x, 5)


def sum_of_rows(x):
    return x.sum(0)


@triton.jit
def running_kernel(x_ptr, y_ptr, part_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(y_ptr + offsets, tl.cumsum(x, 0), mask=offsets < n)
    tl.store(part_ptr + tl.program_id(0), tl.sum(x, 0))


@triton.jit
def before_kernel(y_ptr, part_ptr, out_ptr, n, MORE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    before = 0.0
    for k in range(pid + MORE):
        before += tl.load(part_ptr + k)
    y = tl.load(y_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, y + before, mask=offsets < n)


def running(x, more):
    (n,) = x.shape
    y, out = torch.empty_like(x), torch.empty_like(x)
    parts = triton.cdiv(n, 8)
    part = torch.empty(parts, device="cuda")
    running_kernel[(parts,)](x, y, part, n, BLOCK=8)
    before_kernel[(parts,)](y, part, out, n, MORE=more, BLOCK=8)
    return out


def launch_running(n=61):
    x = torch.randn(n, device="cuda")
    return running(x, 0)


def launch_running_with_its_own_block(n=61):
    x = torch.randn(n, device="cuda")
    return running(x, 1)


def launch_running_without_a_block(n=61):
    x = torch.randn(n, device="cuda")
    return running(x, -1)


def running_sum(x):
    return torch.cumsum(x, 0)


@triton.jit
def padded_kernel(x_ptr, w_ptr, out_ptr, n, PAD: tl.constexpr, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(TAPS):
        at = offsets + k - PAD
        x = tl.load(x_ptr + at, mask=(offsets < n) & (at >= 0) & (at < n), other=0.0)
        total += x * tl.load(w_ptr + k)
    tl.store(out_ptr + offsets, total, mask=offsets < n)


def padded(x, w, pad):
    n = x.shape[2]
    out = torch.empty_like(x)
    padded_kernel[(triton.cdiv(n, 8),)](x, w, out, n, PAD=pad, TAPS=5, BLOCK=8)
    return out


def launch_padded(n=61):
    x, w = torch.randn(1, 1, n, device="cuda"), torch.randn(1, 1, 5, device="cuda")
    return padded(x, w, 2)


def launch_padded_otherwise(n=61):
    x, w = torch.randn(1, 1, n, device="cuda"), torch.randn(1, 1, 5, device="cuda")
    return padded(x, w, 1)


def convolved(x, w):
    return F.conv1d(x, w, padding=2)
