"""Persistent loops whose programs are few, and whose places are chosen by a program's number and its turn."""

import torch
import triton
import triton.language as tl


@triton.jit
def delta_kernel(x_ptr, out_ptr, n, d, BLOCK: tl.constexpr):
    pid, programs = tl.program_id(0), tl.num_programs(0)
    c = tl.arange(0, BLOCK)
    for row in range(pid, n, programs):
        before = tl.where(row > 0, row - 1, n - 1)
        x = tl.load(x_ptr + row * d + c, mask=c < d, other=0.0)
        y = tl.load(x_ptr + before * d + c, mask=c < d, other=0.0)
        tl.store(out_ptr + row * d + c, x - y, mask=c < d)


def launch_delta(n=10, d=12):
    """Each row less the row before it; the first one less the last."""
    x = torch.randn(n, d, device="cuda")
    out = torch.empty_like(x)
    delta_kernel[(4,)](x, out, n, d, BLOCK=16)
    return out


def differences(x):
    return x - x.roll(1, 0)


def two_back(x):
    return x - x.roll(2, 0)


def launch_delta_too_far(n=10, d=12):
    x = torch.randn(n, d, device="cuda")
    out = torch.empty_like(x)
    delta_kernel[(4,)](x, out, n + 1, d, BLOCK=16)
    return out


def launch_delta_too_few(n=10, d=12):
    x = torch.randn(n, d, device="cuda")
    out = torch.empty_like(x)
    delta_kernel[(4,)](x, out, n - 1, d, BLOCK=16)
    return out


@triton.jit
def counted_kernel(ends_ptr, out_ptr, n):
    pid, programs = tl.program_id(0), tl.num_programs(0)
    for row in range(pid, n, programs):
        before = tl.where(row > 0, row - 1, 0)
        start = tl.where(row > 0, tl.load(ends_ptr + before), 0)
        tl.store(out_ptr + row, tl.load(ends_ptr + row) - start)


def launch_counted(n=10):
    """How many there are of each, of where each ends."""
    ends = torch.randint(0, 9, (n,), device="cuda")
    out = torch.empty_like(ends)
    counted_kernel[(3,)](ends, out, n)
    return out


def counts(ends):
    return torch.cat([ends[:1], ends[1:] - ends[:-1]])


@triton.jit
def two_kernel(x_ptr, out_ptr, h, second):
    pid = tl.program_id(0)
    for t in range(tl.where(pid == 0, h, 1)):
        for u in range(tl.where(pid == 0, 1, h)):
            at = tl.where(pid == 0, t, second + u)
            tl.store(out_ptr + at, tl.load(x_ptr + at) + pid)


def launch_two(h=10):
    """The first program has a run of its own, and so has the second."""
    x, out = torch.randn(2 * h, device="cuda"), torch.empty(2 * h, device="cuda")
    two_kernel[(2,)](x, out, h, h)
    return out


def launch_two_that_meet(h=10):
    x, out = torch.randn(2 * h - 1, device="cuda"), torch.empty(2 * h - 1, device="cuda")
    two_kernel[(2,)](x, out, h, h - 1)
    return out
