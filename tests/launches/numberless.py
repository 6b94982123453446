"""Kernels that divide under a mask, and references that divide by what the mask leaves."""

import torch
import triton
import triton.language as tl


@triton.jit
def ratio_kernel(x, w, m, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = tl.load(m + i, mask=i < n, other=0)
    a = tl.load(x + i, mask=i < n, other=0.0)
    b = tl.load(w + i, mask=i < n, other=1.0)
    tl.store(out + i, tl.where(live > 0, a / b, 0.0), mask=i < n)


def launch(n=100):
    x, w = torch.randn(n, device="cuda"), torch.rand(n, device="cuda") + 1
    m = torch.randint(0, 2, (n,), device="cuda")
    out = torch.empty_like(x)
    ratio_kernel[(triton.cdiv(n, 32),)](x, w, m, out, n, BLOCK=32)
    return out


launch.assume = ["w > 0"]


def chosen(x, w, m):
    return torch.where(m > 0, x / w, 0.0)


def of_what_is_left(x, w, m):
    return (x * (m > 0)) / (w * (m > 0))


def chosen_late(x, w, m):
    return x / w * (m > 0)


@triton.jit
def copy_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)


def inputs(n):
    x, w = torch.randn(n, device="cuda"), torch.rand(n, device="cuda") + 1
    return x, w, torch.randint(0, 2, (n,), device="cuda")


def launch_by_mask(n=100):
    x, w, m = inputs(n)
    top = torch.empty_like(x)
    copy_kernel[(triton.cdiv(n, 32),)](x, top, n, BLOCK=32)
    return (top * (m > 0)) / (w * (m > 0))


def launch_what_is_left(n=100):
    x, w, m = inputs(n)
    top = torch.empty_like(x)
    copy_kernel[(triton.cdiv(n, 32),)](x, top, n, BLOCK=32)
    return torch.where(m > 0, top, 0.0) / torch.where(m > 0, w, 0.0)


def launch_ones(n=100):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    copy_kernel[(triton.cdiv(n, 32),)](torch.ones_like(x), out, n, BLOCK=32)
    return out + 0 * x


def of_positive(x):
    y = torch.relu(x)
    return y / y
