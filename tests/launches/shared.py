"""Kernels whose programs share a sum, of which one adds something more. A function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def line_kernel(x_ptr, w_ptr, bias_ptr, out_ptr, depth, AT, PARTS: tl.constexpr, TILE: tl.constexpr):
    """Part p of a row takes the tiles p, p + PARTS, …; the part at AT adds the bias, too."""
    part, row = tl.program_id(0), tl.program_id(1)
    k = part * TILE + tl.arange(0, TILE)
    total = 0.0
    for t in range(tl.cdiv(depth, TILE * PARTS)):
        inside = k < depth - t * TILE * PARTS
        x = tl.load(x_ptr + row * depth + t * TILE * PARTS + k, mask=inside, other=0.0)
        total += tl.sum(x * tl.load(w_ptr + t * TILE * PARTS + k, mask=inside, other=0.0), 0)
    if part == AT:
        total += tl.load(bias_ptr + row)
    tl.atomic_add(out_ptr + row, total)


def run(x, w, bias, at):
    rows, depth = x.shape
    out = torch.zeros(rows, device="cuda")
    line_kernel[(3, rows)](x, w, bias, out, depth, at, PARTS=3, TILE=16)
    return out


def launch_bias_once(rows=5, depth=150):
    x = torch.randn(rows, depth, device="cuda")
    w, bias = torch.randn(depth, device="cuda"), torch.randn(rows, device="cuda")
    return run(x, w, bias, 0)


def launch_bias_never(rows=5, depth=150):
    """There is no part 3."""
    x = torch.randn(rows, depth, device="cuda")
    w, bias = torch.randn(depth, device="cuda"), torch.randn(rows, device="cuda")
    return run(x, w, bias, 3)


@triton.jit
def bias_by_all_but_one_kernel(x_ptr, bias_ptr, out_ptr, depth, PARTS: tl.constexpr):
    part, row = tl.program_id(0), tl.program_id(1)
    value = tl.load(x_ptr + row * PARTS + part)
    if part > 0:
        value += tl.load(bias_ptr + row)
    tl.atomic_add(out_ptr + row, value)


def launch_bias_by_all_but_one(rows=5):
    x, bias = torch.randn(rows, 4, device="cuda"), torch.randn(rows, device="cuda")
    out = torch.zeros(rows, device="cuda")
    bias_by_all_but_one_kernel[(4, rows)](x, bias, out, 4, PARTS=4)
    return out


def line(x, w, bias):
    return x @ w + bias


def line_alone(x, w):
    return x @ w


def three_times(x, bias):
    return x.sum(1) + 3 * bias
