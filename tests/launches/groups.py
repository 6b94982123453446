"""Programs that have the same channels of an image each, as group norms do, in one run over several dimensions."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch.nn.functional import group_norm, layer_norm


@triton.jit
def group_norm_kernel(
    x, weight, bias, out, image, channels, area, groups, group_c, eps,
    FURTHER: tl.constexpr, LONGER: tl.constexpr, HIDES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A run begins `FURTHER` places late and is `LONGER` than the group; `HIDES` what lies beyond it."""
    group, lanes = tl.program_id(0) % groups, tl.arange(0, BLOCK)
    size = group_c * area
    base = tl.program_id(0) // groups * image + group * group_c * channels
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, size, BLOCK):
        total += tl.load(x + base + start + lanes, mask=start + lanes < size, other=0.0)
    mean = tl.sum(total, 0) / size
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, size, BLOCK):
        away = tl.load(x + base + start + lanes, mask=start + lanes < size, other=0.0) - mean
        if HIDES:
            away = tl.where(start + lanes < size, away, 0.0)
        total += away * away
    scale = tl.rsqrt(tl.sum(total, 0) / size + eps)
    for start in range(0, size, BLOCK):
        at = start + lanes
        inside = at < size + LONGER
        channel = group * group_c + at // area
        w, b = tl.load(weight + channel, mask=inside), tl.load(bias + channel, mask=inside)
        each = tl.load(x + base + at, mask=inside, other=0.0)
        tl.store(out + base + FURTHER + at, (each - mean) * scale * w + b, mask=inside)


def normed(x, weight, bias, groups, further=0, longer=0, hides=True):
    batch, channels, height, width = x.shape
    out = torch.empty_like(x)
    group_norm_kernel[(batch * groups,)](
        x, weight, bias, out, x.stride(0), x.stride(1), height * width, groups, channels // groups, 1e-5,
        FURTHER=further, LONGER=longer, HIDES=hides, BLOCK=64,
    )  # fmt: skip
    return out


def launch_normed(batch=2, groups=3, group_c=4, height=8, width=9):
    x = torch.randn(batch, groups * group_c, height, width, device="cuda")
    weight, bias = torch.randn(groups * group_c, device="cuda"), torch.randn(groups * group_c, device="cuda")
    return normed(x, weight, bias, groups)


def launch_with_what_lies_beyond(batch=2, groups=3, group_c=4, height=8, width=8):
    x = torch.randn(batch, groups * group_c, height, width, device="cuda")
    weight, bias = torch.randn(groups * group_c, device="cuda"), torch.randn(groups * group_c, device="cuda")
    return normed(x, weight, bias, groups, hides=False)


def launch_one_longer(batch=2, groups=3, group_c=4, height=8, width=9):
    x = torch.randn(batch, groups * group_c, height, width, device="cuda")
    weight, bias = torch.randn(groups * group_c, device="cuda"), torch.randn(groups * group_c, device="cuda")
    return normed(x, weight, bias, groups, longer=1)


def launch_one_shorter(batch=2, groups=3, group_c=4, height=8, width=9):
    x = torch.randn(batch, groups * group_c, height, width, device="cuda")
    weight, bias = torch.randn(groups * group_c, device="cuda"), torch.randn(groups * group_c, device="cuda")
    return normed(x, weight, bias, groups, longer=-1)


def launch_one_late(batch=2, groups=3, group_c=4, height=8, width=9):
    x = torch.randn(batch, groups * group_c, height, width, device="cuda")
    weight, bias = torch.randn(groups * group_c, device="cuda"), torch.randn(groups * group_c, device="cuda")
    return normed(x, weight, bias, groups, further=1)


def reference(x, weight, bias, groups):
    return group_norm(x, groups, weight, bias, 1e-5)


@triton.jit
def layer_norm_kernel(x, out, row, size, eps, BLOCK: tl.constexpr):
    """The mean square away from the mean, of all but the first dimension, `row` places behind one another."""
    base, lanes = tl.program_id(0) * row, tl.arange(0, BLOCK)
    total, squares = tl.zeros([BLOCK], tl.float32), tl.zeros([BLOCK], tl.float32)
    for start in range(0, size, BLOCK):
        total += tl.load(x + base + start + lanes, mask=start + lanes < size, other=0.0)
    mean = tl.sum(total, 0) / size
    for start in range(0, size, BLOCK):
        each = tl.load(x + base + start + lanes, mask=start + lanes < size, other=0.0)
        squares += tl.where(start + lanes < size, (each - mean) * (each - mean), 0.0)
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / size + eps)
    for start in range(0, size, BLOCK):
        inside = start + lanes < size
        each = tl.load(x + base + start + lanes, mask=inside, other=0.0)
        tl.store(out + base + start + lanes, (each - mean) * scale, mask=inside)


def launch_normed_by_rows(batch=3, heads=5, length=7, depth=6):
    x = torch.randn(batch, heads, length, depth, device="cuda")
    out = torch.empty_like(x)
    layer_norm_kernel[(batch * heads,)](x, out, length * depth, length * depth, 1e-5, BLOCK=32)
    return out


def launch_normed_by_rows_that_overlap(batch=3, heads=5, length=7, depth=6):
    x = torch.randn(batch, heads, length, depth, device="cuda")
    out = torch.empty_like(x)
    layer_norm_kernel[(batch * heads,)](x, out, (length - 1) * depth, length * depth, 1e-5, BLOCK=32)
    return out


def rows(x):
    return layer_norm(x, x.shape[2:])
