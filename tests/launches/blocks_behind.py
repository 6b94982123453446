"""Kernels with block pointers, which Triton had up to 3.8; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def doubled_kernel(x_ptr, out_ptr, m, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    start = tl.program_id(0) * ROWS
    x = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (start, 0), (ROWS, COLUMNS), (1, 0))
    out = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (start, 0), (ROWS, COLUMNS), (1, 0))
    for _ in range(tl.cdiv(n, COLUMNS)):
        tl.store(out, 2 * tl.load(x, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
        x, out = tl.advance(x, (0, COLUMNS)), tl.advance(out, (0, COLUMNS))


def launch_doubled(m=20, n=50):
    """Block by block along each row."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    doubled_kernel[(triton.cdiv(m, 16),)](x, out, m, n, ROWS=16, COLUMNS=16)
    return out


@triton.jit
def unchecked_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    x = tl.make_block_ptr(x_ptr, (n,), (1,), (start,), (BLOCK,), (0,))
    lanes = start + tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, 2 * tl.load(x), mask=lanes < n)


def launch_unchecked(n=100):
    """What lies behind the end is read."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    unchecked_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out
