"""Small kernels with loops that add to a value while a condition holds, and replace it where it does not."""

import torch
import triton
import triton.language as tl


@triton.jit
def member_kernel(x_ptr, y_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    found = tl.full((BLOCK, BLOCK), 0, dtype=tl.int1)
    for first in range(0, m, BLOCK):
        columns = first + tl.arange(0, BLOCK)[None, :]
        y = tl.load(y_ptr + columns, mask=columns < m, other=0)
        found = tl.where(columns < m, found | (x == y), False)
    result = tl.max(found.to(tl.int32), axis=1)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), result, mask=tl.ravel(offsets) < n)


def launch_member(n=37, m=21):
    """Whether a number is among others; where the last block is not full, some lanes forget what they have seen."""
    x = torch.randint(0, 30, (n,), dtype=torch.int32, device="cuda")
    y = torch.randint(0, 30, (m,), dtype=torch.int32, device="cuda")
    out = torch.empty_like(x)
    member_kernel[(triton.cdiv(n, 8),)](x, y, out, n, m, BLOCK=8)
    return out


def among(x, y):
    return torch.isin(x, y).to(torch.int32)


@triton.jit
def total_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, WHEN: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.full((BLOCK,), 3.0, dtype=tl.float32)
    for first in range(0, n, BLOCK):
        offsets = first + lanes
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
        if WHEN == "until":
            total = tl.where(offsets < n, total + x, lanes.to(tl.float32))
        elif WHEN == "not until":
            total = tl.where(offsets >= n, lanes.to(tl.float32), total + x)
        elif WHEN == "largest":
            total = tl.where(offsets < n, tl.maximum(total, x), 0.0)
        elif WHEN == "since":
            total = tl.where(offsets >= 2 * BLOCK, total + x, lanes.to(tl.float32))
        elif WHEN == "sometimes":
            total = tl.where((offsets // BLOCK) % 2 == 0, total + x, lanes.to(tl.float32))
        elif WHEN == "data":
            total = tl.where(x > 0, total + x, lanes.to(tl.float32))
        else:
            total = tl.where(offsets < n, total + x, 2.0 * total)
    tl.store(out_ptr + lanes, total)


def totals(n, when):
    x = torch.randn(n, device="cuda")
    out = torch.empty(8, device="cuda")
    total_kernel[(1,)](x, out, n, BLOCK=8, WHEN=when)
    return out


def launch_until(n=21):
    return totals(n, "until")


def launch_not_until(n=21):
    return totals(n, "not until")


def launch_largest(n=21):
    return totals(n, "largest")


def launch_since(n=21):
    """The condition holds from some iteration on."""
    return totals(n, "since")


def launch_sometimes(n=21):
    """The condition holds in every other iteration."""
    return totals(n, "sometimes")


def launch_sometimes_in_one_block(n=7):
    """The same, where all fits into the first block."""
    return totals(n, "sometimes")


def launch_data(n=21):
    """The condition is up to the data."""
    return totals(n, "data")


def launch_doubling(n=21):
    """What replaces the value is made of it."""
    return totals(n, "doubling")
