"""Kernels of which versions of Triton, or their interpreters, make different things; `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def truths_kernel(x_ptr, out_ptr, flag, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    inside = lanes < n
    x = tl.load(x_ptr + lanes, mask=inside, other=0)
    small = (x < 3) and (x > -3)
    odd = (x & 1) != 0
    both = small + odd
    if flag:
        both = both ^ small
    tl.store(out_ptr + lanes, both.to(tl.int32) + 2 * (not small).to(tl.int32), mask=inside)


def launch_truths(n=100):
    """Truth values are added as bits; `and` and `not` of lanes stand in what is assigned."""
    x = torch.randint(-5, 6, (n,), dtype=torch.int32, device="cuda")
    out = torch.empty_like(x)
    truths_kernel[(1,)](x, out, True, n, BLOCK=128)
    return out


@triton.jit
def whole_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n, other=0)
    high = tl.umulhi(x, x * 7)
    tl.store(out_ptr + lanes, high, mask=lanes < n)
    without = ~x.to(tl.uint32, bitcast=True)
    tl.store(out_ptr + n + lanes, without.to(tl.int32, bitcast=True), mask=lanes < n)
    tl.store(out_ptr + 2 * n, tl.sum(x, axis=0))


def launch_whole(n=100):
    """The upper half of a product, each bit turned, and a sum that is too long."""
    x = torch.randint(-(2**31), 2**31 - 1, (n,), dtype=torch.int32, device="cuda")
    out = torch.empty(2 * n + 1, dtype=torch.int32, device="cuda")
    whole_kernel[(1,)](x, out, n, BLOCK=128)
    return out


@triton.jit
def missing_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n, other=0.0)
    root = tl.sqrt(x)
    tl.store(out_ptr + lanes, tl.minimum(root, 0.5), mask=lanes < n)
    tl.store(out_ptr + n + lanes, tl.maximum(root, 0.25), mask=lanes < n)
    tl.store(out_ptr + 2 * n + lanes, tl.clamp(root, 0.25, 0.5), mask=lanes < n)


def launch_missing(n=100):
    """What is no number gives way to the other one."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(3 * n, device="cuda")
    missing_kernel[(1,)](x, out, n, BLOCK=128)
    return out


@triton.jit
def counted_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n, other=0)
    tl.store(out_ptr + tl.arange(0, 8), tl.histogram(x, 8, mask=lanes < n))


def launch_counted(n=100):
    """What is in no bin is not counted; 8 is in none."""
    x = torch.randint(-2, 11, (n,), dtype=torch.int32, device="cuda")
    out = torch.empty(8, dtype=torch.int32, device="cuda")
    counted_kernel[(1,)](x, out, n, BLOCK=128)
    return out


@triton.jit
def clamped_bins_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n, other=0)
    x = tl.minimum(tl.maximum(x, 0), 7)
    tl.store(out_ptr + tl.arange(0, 8), tl.histogram(x, 8, mask=lanes < n))


def launch_clamped_bins(n=100):
    """Everything is in some bin."""
    x = torch.randint(-2, 11, (n,), dtype=torch.int32, device="cuda")
    out = torch.empty(8, dtype=torch.int32, device="cuda")
    clamped_bins_kernel[(1,)](x, out, n, BLOCK=128)
    return out


@triton.jit
def until_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    start = 0
    while tl.condition(start < n):
        total += tl.load(x_ptr + start + lanes, mask=start + lanes < n, other=0.0)
        start += BLOCK
    for k in range(tl.program_id(0), tl.program_id(0) + 2):
        total += k
    tl.store(out_ptr + lanes, total)


def launch_until(n=100):
    """A loop with a condition in words, and one whose bounds are tensors of one element."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(16, device="cuda")
    until_kernel[(1,)](x, out, n, BLOCK=16)
    return out


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"],
                 prune_configs_by={"early_config_prune": lambda configs, nargs, **_: configs[:1]})
@triton.jit
def added_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    tl.store(out_ptr + lanes, tl.load(out_ptr + lanes, mask=lanes < n) + x, mask=lanes < n)


def launch_added_by_the_one_left(n=1000):
    """Two configurations, of which one is never tried; the sums are right if the other one is not timed."""
    x, out = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    added_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out
