"""Small kernels over unsigned integers, and one that waits for another program; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def pixels_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, x.to(tl.float32) / 255.0, mask=offsets < n)


def launch_pixels(n=37):
    """Bytes as floats."""
    x = torch.randint(0, 256, (n,), device="cuda").to(torch.uint8)
    out = torch.empty(n, device="cuda")
    pixels_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def copied_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def launch_copied(n=37):
    x = torch.randint(0, 256, (n,), device="cuda").to(torch.uint8)
    out = torch.empty_like(x)
    copied_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def halves_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, (x >> 4).to(tl.int32) - (x & 15).to(tl.int32), mask=offsets < n)


def launch_halves(n=37):
    """The upper half of a byte, which is no sign, and the lower one."""
    x = torch.randint(0, 256, (n,), device="cuda").to(torch.uint8)
    out = torch.empty(n, dtype=torch.int32, device="cuda")
    halves_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def below_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, (offsets - 3).to(tl.uint32), mask=offsets < n)


def launch_below(n=37):
    """Negative numbers, stored as unsigned ones."""
    out = torch.empty(n, dtype=torch.uint32, device="cuda")
    below_kernel[(triton.cdiv(n, 16),)](out, n, BLOCK=16)
    return out


@triton.jit
def multiple_kernel(x_ptr, out_ptr, n, times, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, times * x, mask=offsets < n)


def launch_doubled(n=37):
    """Wraps around once where a number is large, and its formula says so."""
    x = torch.randint(0, 1 << 32, (n,), device="cuda").to(torch.uint32)
    out = torch.empty_like(x)
    multiple_kernel[(triton.cdiv(n, 16),)](x, out, n, 2, BLOCK=16)
    return out


def launch_tripled(n=37):
    """May wrap around more than once."""
    x = torch.randint(0, 1 << 32, (n,), device="cuda").to(torch.uint32)
    out = torch.empty_like(x)
    multiple_kernel[(triton.cdiv(n, 16),)](x, out, n, 3, BLOCK=16)
    return out


@triton.jit
def chained_kernel(x_ptr, flag_ptr, out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0))
    before = 0.0
    if program > 0:
        ready = tl.load(flag_ptr + program - 1, volatile=True)
        while ready == 0:
            ready = tl.load(flag_ptr + program - 1, volatile=True)
        before = tl.load(out_ptr + program - 1)
    tl.store(out_ptr + program, before + total)
    tl.store(flag_ptr + program, 1)


def launch_chained(n=37):
    """Running sums of blocks, each program waiting for the one before it."""
    x = torch.randn(n, device="cuda")
    out, flags = (torch.zeros(triton.cdiv(n, 16), dtype=d, device="cuda") for d in (torch.float32, torch.int32))
    chained_kernel[(triton.cdiv(n, 16),)](x, flags, out, n, BLOCK=16)
    return out


@triton.jit
def locked_kernel(lock_ptr, out_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr) + 1.0)
    tl.atomic_xchg(lock_ptr, 0)


def launch_locked(programs=5):
    """A lock."""
    lock, out = torch.zeros(1, dtype=torch.int32, device="cuda"), torch.zeros(1, device="cuda")
    locked_kernel[(programs,)](lock, out)
    return out
