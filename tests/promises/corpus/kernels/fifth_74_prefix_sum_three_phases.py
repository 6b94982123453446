"""Prefix sum of a long vector in three launches: blocks, totals of the blocks, and the totals added back."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def scan_blocks(x_ptr, out_ptr, total_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, tl.cumsum(x, axis=0), mask=offs < n)
    tl.store(total_ptr + pid, tl.sum(x, axis=0))


@triton.jit
def scan_totals(total_ptr, before_ptr, blocks, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    mask = offs < blocks
    total = tl.load(total_ptr + offs, mask=mask, other=0.0)
    tl.store(before_ptr + offs, tl.cumsum(total, axis=0) - total, mask=mask)


@triton.jit
def add_before(out_ptr, before_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    before = tl.load(before_ptr + pid)
    tl.store(out_ptr + offs, tl.load(out_ptr + offs, mask=mask) + before, mask=mask)


def launch():
    x = torch.randn(3001)
    n = x.numel()
    BLOCK = 256
    blocks = triton.cdiv(n, BLOCK)
    assert blocks <= 1024
    out = torch.empty_like(x)
    total = torch.empty(blocks)
    before = torch.empty(blocks)
    scan_blocks[(blocks,)](x, out, total, n, BLOCK=BLOCK)
    scan_totals[(1,)](total, before, blocks, BLOCK=1024)
    add_before[(blocks,)](out, before, n, BLOCK=BLOCK)
    return out


def reference(x):
    return x.cumsum(0)
