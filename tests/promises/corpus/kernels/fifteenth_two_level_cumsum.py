"""Row-wise cumulative sum in three launches: sums of blocks, exclusive scan of these, local scan plus carry."""
import torch
import triton
import triton.language as tl


@triton.jit
def block_sums(x_ptr, sums_ptr, n, n_blocks, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    b = tl.program_id(1)
    i = b * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * n + i, mask=i < n, other=0.0)
    tl.store(sums_ptr + r * n_blocks + b, tl.sum(x, 0))


@triton.jit
def scan_sums(sums_ptr, carry_ptr, n_blocks, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    s = tl.load(sums_ptr + r * n_blocks + i, mask=i < n_blocks, other=0.0)
    tl.store(carry_ptr + r * n_blocks + i, tl.cumsum(s, 0) - s, mask=i < n_blocks)


@triton.jit
def add_carry(x_ptr, carry_ptr, out_ptr, n, n_blocks, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    b = tl.program_id(1)
    i = b * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * n + i, mask=i < n, other=0.0)
    c = tl.load(carry_ptr + r * n_blocks + b)
    tl.store(out_ptr + r * n + i, tl.cumsum(x, 0) + c, mask=i < n)


def launch(rows=4, n=210):
    BLOCK = 32
    x = torch.randn(rows, n, device="cuda")
    n_blocks = triton.cdiv(n, BLOCK)
    sums = torch.empty(rows, n_blocks, device="cuda")
    carry = torch.empty_like(sums)
    out = torch.empty_like(x)
    block_sums[(rows, n_blocks)](x, sums, n, n_blocks, BLOCK=BLOCK)
    scan_sums[(rows,)](sums, carry, n_blocks, BLOCK=triton.next_power_of_2(n_blocks))
    add_carry[(rows, n_blocks)](x, carry, out, n, n_blocks, BLOCK=BLOCK)
    return out


def reference(x):
    return torch.cumsum(x, dim=-1)
TRUTH = "verified"
