"""Small kernels that put parts together: means, counts and squared distances of blocks, merged as Chan does."""

import torch
import triton
import triton.language as tl


@triton.jit
def parts_kernel(x_ptr, mean_ptr, count_ptr, spread_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    count = tl.sum(mask.to(tl.float32))
    mean = tl.sum(x) / count
    tl.store(mean_ptr + tl.program_id(0), mean)
    tl.store(count_ptr + tl.program_id(0), count)
    tl.store(spread_ptr + tl.program_id(0), tl.sum(x * x) - count * mean * mean)


@triton.jit
def merged(mean, count, spread, mean_, count_, spread_):
    both = count + count_
    total = mean * count + mean_ * count_
    new = total / tl.maximum(both, 1.0)
    return new, both, spread + mean * mean * count + spread_ + mean_ * mean_ * count_ - both * new * new


@triton.jit
def merged_by_halves(mean, count, spread, mean_, count_, spread_):
    """Both parts count the same."""
    both = count + count_
    new = (mean + mean_) / 2
    return new, both, spread + mean * mean * count + spread_ + mean_ * mean_ * count_ - both * new * new


@triton.jit
def merged_inside(mean, count, spread, mean_, count_, spread_):
    """Without the distance between the two means."""
    both = count + count_
    return (mean * count + mean_ * count_) / tl.maximum(both, 1.0), both, spread + spread_


@triton.jit
def merged_above_two(mean, count, spread, mean_, count_, spread_):
    """Right only for counts of at least 2 together."""
    both = count + count_
    new = (mean * count + mean_ * count_) / tl.maximum(both, 2.0)
    return new, both, spread + mean * mean * count + spread_ + mean_ * mean_ * count_ - both * new * new


@triton.jit
def whole_kernel(mean_ptr, count_ptr, spread_ptr, out_ptr, parts, BLOCK: tl.constexpr, BY: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    mask = lanes < parts
    mean = tl.load(mean_ptr + lanes, mask=mask, other=0.0)
    if BY == "unmasked":
        count = tl.load(count_ptr + lanes, mask=mask, other=0.25)
    elif BY == "half":
        count = tl.load(count_ptr + lanes, mask=mask, other=0.0) / 2
    else:
        count = tl.load(count_ptr + lanes, mask=mask, other=0.0)
    spread = tl.load(spread_ptr + lanes, mask=mask, other=0.0)
    if BY == "by_halves":
        mean, count, spread = tl.reduce((mean, count, spread), 0, merged_by_halves)
    elif BY == "inside":
        mean, count, spread = tl.reduce((mean, count, spread), 0, merged_inside)
    elif BY == "above_two":
        mean, count, spread = tl.reduce((mean, count, spread), 0, merged_above_two)
    else:
        mean, count, spread = tl.reduce((mean, count, spread), 0, merged)
    tl.store(out_ptr, mean)
    tl.store(out_ptr + 1, spread / count)


def moments(x, by="", more=0):
    n = x.numel()
    parts = triton.cdiv(n, 16) + more
    mean = torch.empty(parts, device="cuda")
    count, spread = torch.empty_like(mean), torch.empty_like(mean)
    out = torch.empty(2, device="cuda")
    parts_kernel[(parts,)](x, mean, count, spread, n, BLOCK=16)
    whole_kernel[(1,)](mean, count, spread, out, parts, BLOCK=8, BY=by)
    return out


def launch_moments(n=100):
    x = torch.randn(n, device="cuda")
    return moments(x)


def launch_moments_by_halves(n=100):
    x = torch.randn(n, device="cuda")
    return moments(x, "by_halves")


def launch_moments_inside(n=100):
    x = torch.randn(n, device="cuda")
    return moments(x, "inside")


def launch_moments_above_two(n=100):
    x = torch.randn(n, device="cuda")
    return moments(x, "above_two")


def launch_moments_unmasked(n=100):
    """Lanes without a part count a quarter."""
    x = torch.randn(n, device="cuda")
    return moments(x, "unmasked")


def launch_moments_half(n=100):
    """Half of each count may be less than 1."""
    x = torch.randn(n, device="cuda")
    return moments(x, "half")


def launch_moments_of_one_part_more(n=100):
    """The last part is empty, and its mean 0/0."""
    x = torch.randn(n, device="cuda")
    return moments(x, more=1)


def reference(x):
    return torch.stack([x.mean(), x.var(correction=0)])
