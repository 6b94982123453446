"""Rows of sequences that lie behind one another, each written where its sequence begins. And near misses."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def ragged_kernel(
    x, starts, out, D, LATE: tl.constexpr, LONGER: tl.constexpr, MASKED: tl.constexpr, ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """A program has a block of rows of a sequence, which goes on for `LONGER` rows; each row is written `LATE`."""
    block, sequence = tl.program_id(0), tl.program_id(1)
    start, end = tl.load(starts + sequence), tl.load(starts + sequence + 1)
    if block * ROWS >= end - start:
        return
    row = start + block * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, BLOCK)
    inside = (row[:, None] < end + LONGER) & (d[None, :] < D)
    each = tl.load(x + row[:, None] * D + d[None, :], mask=inside, other=0.0)
    if MASKED:
        tl.store(out + (row + LATE)[:, None] * D + d[None, :], 2 * each + sequence, mask=inside)
    else:
        tl.store(out + (row + LATE)[:, None] * D + d[None, :], 2 * each + sequence, mask=d[None, :] < D)


def ragged(x, starts, longest, late=0, longer=0, masked=True):
    out = torch.zeros_like(x)
    ragged_kernel[(triton.cdiv(longest, 4), starts.shape[0] - 1)](
        x, starts, out, x.shape[1], LATE=late, LONGER=longer, MASKED=masked, ROWS=4, BLOCK=32
    )
    return out


def launch_ragged(total=30, D=20):
    x = torch.randn(total, D, device="cuda")
    starts = torch.tensor([0, 7, 18, total], dtype=torch.int32, device="cuda")
    longest = int((starts[1:] - starts[:-1]).max())
    return ragged(x, starts, longest)


def launch_one_row_longer(total=30, D=20):
    x = torch.randn(total, D, device="cuda")
    starts = torch.tensor([0, 7, 18, total], dtype=torch.int32, device="cuda")
    longest = int((starts[1:] - starts[:-1]).max())
    return ragged(x, starts, longest, longer=1)


def launch_not_masked(total=30, D=20):
    x = torch.randn(total, D, device="cuda")
    starts = torch.tensor([0, 7, 18, total], dtype=torch.int32, device="cuda")
    longest = int((starts[1:] - starts[:-1]).max())
    return ragged(x, starts, longest, masked=False)


def launch_one_row_late(total=30, D=20):
    x = torch.randn(total, D, device="cuda")
    starts = torch.tensor([0, 7, 18, total], dtype=torch.int32, device="cuda")
    longest = int((starts[1:] - starts[:-1]).max())
    return ragged(x, starts, longest, late=1)


def launch_sequences_that_overlap(total=30, D=20):
    x = torch.randn(total, D, device="cuda")
    starts = torch.tensor([0, 18, 7, total], dtype=torch.int32, device="cuda")
    longest = int((starts[1:] - starts[:-1]).max())
    return ragged(x, starts, longest)


def numbered(x, starts):
    place = torch.arange(x.shape[0], device=x.device)
    return 2 * x + (place[:, None] >= starts[None, 1:]).sum(1)[:, None]


def numbered_from_one(x, starts):
    return numbered(x, starts) + 1
