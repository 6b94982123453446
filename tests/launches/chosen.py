"""Kernels that are told numbers which the host works out of sizes, as block sizes are; a function `launch_…` runs each.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def halves_kernel(x_ptr, out_ptr, row, apart, half: tl.constexpr, BLOCK: tl.constexpr):
    """Both halves of a row, `apart` from one another, in the other order."""
    start = tl.program_id(0) * row
    lane = tl.arange(0, BLOCK)
    inside = lane < half
    first = tl.load(x_ptr + start + lane, mask=inside)
    second = tl.load(x_ptr + start + half + lane, mask=inside)
    tl.store(out_ptr + start + lane, second, mask=inside)
    tl.store(out_ptr + start + apart + lane, first, mask=inside)


def swapped(x, further=0):
    rows, width = x.shape
    half = width // 2
    out = torch.empty_like(x)
    halves_kernel[(rows,)](x, out, x.stride(0), half + further, half, triton.next_power_of_2(half))
    return out


def launch_halves(x=None):
    return swapped(torch.randn(5, 24) if x is None else x)


def launch_halves_of_odd_rows(x=None):
    return swapped(torch.randn(5, 25) if x is None else x)


def launch_halves_further_apart(x=None):
    return swapped(torch.randn(5, 24) if x is None else x, further=1)


def halves(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((second, first), dim=-1)


@triton.jit
def groups_kernel(x_ptr, scale_ptr, out_ptr, width, groups, counted: tl.constexpr, BLOCK: tl.constexpr):
    """Each group of a row times its own scale; `counted` are the elements that the kernel takes for a group."""
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = at < width
    x = tl.load(x_ptr + row * width + at, mask=inside)
    scale = tl.load(scale_ptr + row * groups + at // counted, mask=inside)
    tl.store(out_ptr + row * width + at, x * scale, mask=inside)


def scaled(x, scales, more=0):
    rows, width = x.shape
    groups = scales.shape[1]
    group = width // groups
    out = torch.empty_like(x)
    groups_kernel[(rows, triton.cdiv(width, 64))](x, scales, out, width, groups, group + more, BLOCK=64)
    return out


def launch_groups():
    x, scales = torch.randn(5, 96), torch.randn(5, 3)
    return scaled(x, scales)


def launch_longer_groups():
    x, scales = torch.randn(5, 96), torch.randn(5, 3)
    return scaled(x, scales, more=1)


def launch_shorter_groups():
    x, scales = torch.randn(5, 96), torch.randn(5, 3)
    return scaled(x, scales, more=-1)


def launch_groups_and_a_rest():
    x, scales = torch.randn(5, 97), torch.randn(5, 3)
    return scaled(x, scales)


def groups(x, scales):
    return x * scales.repeat_interleave(x.shape[1] // scales.shape[1], dim=1)


def inputs(rows=5, width=96, groups=3):
    return torch.randn(rows, width), torch.randn(rows, groups)


def launch_groups_of_inputs():
    x, scales = inputs()
    return scaled(x, scales)


def launch_longer_groups_of_inputs():
    x, scales = inputs()
    return scaled(x, scales, more=1)
