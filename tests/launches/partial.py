"""Kernels with roots, logarithms and quotients that cancel, where they have a value. A function `launch_…` runs each;
the function after it is what is left."""

import torch
import triton
import triton.language as tl


def run(kernel, *tensors):
    out = torch.empty_like(tensors[0])
    n = out.numel()
    kernel[lambda meta: (triton.cdiv(n, 64),)](*tensors, out, n, BLOCK=64)
    return out


@triton.jit
def roots_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    root = tl.sqrt(tl.load(x_ptr + i, mask=i < n, other=1.0))
    tl.store(out_ptr + i, root * root / tl.load(y_ptr + i, mask=i < n, other=1.0), mask=i < n)


def launch_roots(n=200):
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    return run(roots_kernel, x, y)


def roots(x, y):
    return x / y


@triton.jit
def logarithms_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    log = tl.log(tl.load(x_ptr + i, mask=i < n, other=1.0))
    tl.store(out_ptr + i, log + 1 / tl.load(y_ptr + i, mask=i < n, other=1.0) - log, mask=i < n)


def launch_logarithms(n=200):
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    return run(logarithms_kernel, x, y)


def logarithms(x, y):
    return 1 / y


@triton.jit
def of_positive_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    root = tl.sqrt(x * x + 1.0)
    tl.store(out_ptr + i, root * root / tl.load(y_ptr + i, mask=i < n, other=1.0), mask=i < n)


def launch_of_positive(n=200):
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    return run(of_positive_kernel, x, y)


def of_positive(x, y):
    return (x * x + 1.0) / y


@triton.jit
def root_of_largest_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=float("-inf"))
    largest = tl.max(x, 0)
    root = tl.sqrt(largest)
    tl.store(out_ptr + row * n + i, tl.exp(x) + root * root - largest, mask=i < n)


def launch_root_of_largest(m=5, n=200):
    """What is added and subtracted is no shift: below 0 it has no root."""
    x = torch.rand(m, n, device="cuda")
    out = torch.empty_like(x)
    root_of_largest_kernel[(m,)](x, out, n, BLOCK=256)
    return out


# ------------------------------------------------------------------------------------------------------------- tuners


WAYS = [triton.Config({"BY_ROOT": by_root}) for by_root in (False, True)]


@triton.autotune(configs=WAYS, key=["n"])
@triton.jit
def in_two_ways_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, BY_ROOT: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    if BY_ROOT:
        root = tl.sqrt(x)
        x = root * root
    tl.store(out_ptr + i, x * tl.load(y_ptr + i, mask=i < n, other=1.0), mask=i < n)


def launch_in_two_ways(n=200):
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    return run(in_two_ways_kernel, x, y)


def in_two_ways(x, y):
    return x * y


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def root_in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    root = tl.sqrt(tl.load(x_ptr + i, mask=i < n, other=1.0))
    tl.store(x_ptr + i, root * root, mask=i < n)


def launch_root_in_place(n=200):
    """Run again, it stores the same, for numbers that have a root."""
    x = torch.rand(n, device="cuda")
    root_in_place_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, n)
    return x
