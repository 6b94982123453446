"""Launches whose references name parameters that are equal in the example, or fold another spelling of one function."""

import torch
import triton
import triton.language as tl


@triton.jit
def shared_kernel(x_ptr, out_ptr, width, GROUP: tl.constexpr):
    row = tl.program_id(0)
    for j in range(width):
        tl.store(out_ptr + row * width + j, tl.load(x_ptr + row // GROUP * width + j))


def launch_shared(heads=2, group=2, width=5):
    x = torch.randn(heads, width)
    out = torch.empty(heads * group, width)
    shared_kernel[(heads * group,)](x, out, width, GROUP=group)
    return out


def shared(x, group):
    return x.repeat_interleave(group, 0)


@triton.jit
def scaled_kernel(x_ptr, out_ptr, factor):
    at = tl.program_id(0)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * factor)


def launch_scaled(length=3, factor=3):
    x = torch.randn(length)
    out = torch.empty_like(x)
    scaled_kernel[(length,)](x, out, factor)
    return out


def scaled(x, factor):
    return x * factor


def scaled_and_one(x, factor):
    return x * factor + 1


@triton.jit
def gradient_kernel(dy_ptr, x_ptr, scale_ptr, out_ptr, rows, width):
    column, scale = tl.program_id(0), tl.load(scale_ptr)
    total = 0.0
    for row in range(rows):
        x, dy = tl.load(x_ptr + row * width + column), tl.load(dy_ptr + row * width + column)
        total += dy * (2 / (1 + tl.exp(-2 * scale * x)) - 1)
    tl.store(out_ptr + column, total)


def launch_gradient(rows=4, width=6):
    dy, x, scale = torch.randn(rows, width), torch.randn(rows, width), torch.randn(1)
    out = torch.empty(width)
    gradient_kernel[(width,)](dy, x, scale, out, rows, width)
    return out


def gradient(dy, x, scale):
    return (dy * torch.tanh(scale * x)).sum(0)


def gradient_of_half(dy, x, scale):
    return (dy * torch.tanh(scale * x / 2)).sum(0)


def gradient_from_one_on(dy, x, scale):
    return (dy * torch.tanh(scale * x))[1:].sum(0)


@triton.jit
def made_kernel(y_ptr, n, LOG: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.log(tl.where(at < 3, 1.0, 0.0)) if LOG else 1.0 / at.to(tl.float32)
    tl.store(y_ptr + at, value, mask=at < n)


@triton.jit
def cancelled_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at, mask=at < n), tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x + (y - y), mask=at < n)


def cancelled(n, log):
    x = torch.randn(n)
    y, out = torch.empty_like(x), torch.empty_like(x)
    made_kernel[(1,)](y, n, LOG=log, BLOCK=32)
    cancelled_kernel[(1,)](x, y, out, n, BLOCK=32)
    return out


def launch_inverse(n=20):
    return cancelled(n, False)


def launch_logarithm(n=20):
    return cancelled(n, True)


def untouched(x):
    return x
