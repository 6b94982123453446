"""Small kernels that count: how many keys there are of each kind, where keys are taken from the bits of numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def digits_kernel(
    x_ptr, out_ptr, n, shift, tiles, BLOCK: tl.constexpr, BINS: tl.constexpr, MASKED: tl.constexpr, FROM: tl.constexpr
):
    start = tl.program_id(0) * tiles * BLOCK
    end = tl.minimum(start + tiles * BLOCK, n)
    bins = tl.arange(0, BINS)
    count = tl.full((BINS, BLOCK), FROM, dtype=tl.int64)
    for first in range(start, end, BLOCK):
        offsets = first + tl.arange(0, BLOCK)
        mask = offsets < end
        x = tl.load(x_ptr + offsets, mask=mask)
        key = (x >> shift) & (BINS - 1)
        matches = bins[:, None] == key
        count += tl.where(mask, matches, False) if MASKED else matches
    tl.atomic_add(out_ptr + bins, tl.sum(count, axis=1).to(tl.int32))


def counts(n, masked=True, first=0, make=torch.zeros):
    x = torch.randint(0, 1 << 20, (n,), dtype=torch.int32, device="cuda")
    out = make(4, dtype=torch.int32, device="cuda")
    digits_kernel[(triton.cdiv(n, 32),)](x, out, n, 5, 4, BLOCK=8, BINS=4, MASKED=masked, FROM=first)
    return out


def launch_digits(n=100):
    return counts(n)


def launch_digits_unmasked(n=100):
    """Counts what lies behind the last element, whatever that is."""
    return counts(n, masked=False)


def launch_digits_from_one(n=100):
    """One too many for each lane."""
    return counts(n, first=1)


def launch_digits_added_to_nothing(n=100):
    """Counts are added to what nobody has set."""
    return counts(n, make=torch.empty)
