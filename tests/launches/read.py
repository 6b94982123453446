"""Launches whose host code reads numbers from tensors, small, and what is nearly one of them."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def pad_kernel(x, lengths, out, L, D, LESS: tl.constexpr, BLOCK: tl.constexpr):
    b, t, lanes = tl.program_id(0), tl.program_id(1), tl.arange(0, BLOCK)
    n = tl.load(lengths + b)
    row = tl.load(x + (b * L + t) * D + lanes, mask=(lanes < D) & (t < n), other=0.0)
    tl.store(out + (b * (tl.num_programs(1) + LESS) + t) * D + lanes, row, mask=lanes < D)


def padded(x, lengths, longest, less=0):
    out = torch.empty(x.shape[0], longest + less, x.shape[2], device="cuda")
    pad_kernel[(x.shape[0], longest)](x, lengths, out, x.shape[1], x.shape[2], LESS=less, BLOCK=16)
    return out


def launch_padded():
    """As long as the longest row, which `int` reads."""
    B, L, D = 4, 9, 11
    x, lengths = torch.randn(B, L, D, device="cuda"), torch.randint(2, L, (B,), device="cuda")
    longest = int(lengths.max())
    return padded(x, lengths, longest)


def launch_padded_item():
    B, L, D = 4, 9, 11
    x, lengths = torch.randn(B, L, D, device="cuda"), torch.randint(2, L, (B,), device="cuda")
    return padded(x, lengths, lengths.max().item())


def launch_padded_short():
    """One position more than there are programs."""
    B, L, D = 4, 9, 11
    x, lengths = torch.randn(B, L, D, device="cuda"), torch.randint(2, L, (B,), device="cuda")
    longest = int(lengths.max())
    return padded(x, lengths, longest, less=1)


def launch_padded_twice():
    """The greatest length is read twice, and rounds up to a number that the example alone has."""
    B, L, D = 4, 9, 11
    x, lengths = torch.randn(B, L, D, device="cuda"), torch.randint(2, L, (B,), device="cuda")
    longest, again = int(lengths.max()), int(lengths.max())
    return padded(x, lengths, longest), padded(x, lengths, again)


def launch_padded_by_count():
    """A number below 2 is no size."""
    B, L, D = 4, 9, 11
    x, lengths = torch.randn(B, L, D, device="cuda"), torch.ones(B, dtype=torch.int64, device="cuda")
    return padded(x, lengths, int(lengths.max()))


def launch_real():
    """A float is no size, and `int` of a number is what it is."""
    B, L, D = 4, 9, int(11.5)
    x, lengths = torch.randn(B, L, D, device="cuda"), torch.randint(2, L, (B,), device="cuda")
    return padded(x, lengths, int(lengths.float().max()))


def cut(x, lengths):
    keep = torch.arange(x.shape[1])[None, :, None] < lengths[:, None, None]
    return torch.where(keep, x, 0.0)


@triton.jit
def ends_kernel(lengths, out, longest):
    b = tl.program_id(0)
    tl.store(out + b * longest + tl.load(lengths + b) - 1, 1.0)


def launch_ends_of_shortest():
    """Rows end behind the shortest one."""
    B, L = 4, 9
    lengths = torch.randint(2, L, (B,), device="cuda")
    shortest = int(lengths.min())
    out = torch.zeros(B, shortest, device="cuda")
    ends_kernel[(B,)](lengths, out, shortest)
    return out
