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


@triton.jit
def absmax_kernel(x, out, n_groups, GROUP: tl.constexpr, LATE: tl.constexpr, TOGETHER: tl.constexpr):
    """The rows as one line of groups, several to a program; `LATE`, a group is read that many elements behind its
    first one, from the place where it lies again."""
    g = tl.program_id(0) * TOGETHER + tl.arange(0, TOGETHER)
    inside = (g < n_groups)[:, None]
    lanes = tl.arange(0, GROUP)[None, :]
    each = tl.load(x + g[:, None] * GROUP + (lanes + LATE) % GROUP, mask=inside, other=0.0)
    most = tl.max(tl.abs(each), 1)
    tl.store(out + g[:, None] * GROUP + lanes, each / (most[:, None] + 1.0), mask=inside)


def scaled_by_groups(x, group, late=0):
    out = torch.empty_like(x)
    groups = x.shape[0] * (x.shape[1] // group)
    absmax_kernel[(triton.cdiv(groups, 4),)](x, out, groups, GROUP=group, LATE=late, TOGETHER=4)
    return out


def launch_scaled_by_groups(tokens=7, hidden=96):
    return scaled_by_groups(torch.randn(tokens, hidden, device="cuda"), 32)


def launch_scaled_by_groups_late(tokens=7, hidden=96):
    return scaled_by_groups(torch.randn(tokens, hidden, device="cuda"), 32, late=1)


def by_groups(x):
    groups = x.view(x.shape[0], x.shape[1] // 32, 32)
    return (groups / (groups.abs().amax(-1, keepdim=True) + 1.0)).view(x.shape)


def launch_four_groups(batch=2, channels=12, height=5, width=7):
    """How many channels are in a group is a quotient of sizes."""
    x = torch.randn(batch, channels, height, width, device="cuda")
    weight, bias = torch.randn(channels, device="cuda"), torch.randn(channels, device="cuda")
    return normed(x, weight, bias, 4)


def four_groups(x, weight, bias):
    return group_norm(x, 4, weight, bias, eps=1e-5)
