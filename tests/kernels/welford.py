"""Mean and variance of each row by Welford's algorithm: each lane by itself, then the lanes together, two at a time."""

import torch
import triton
import triton.language as tl


@triton.jit
def combine(mean_a, count_a, m2_a, mean_b, count_b, m2_b):
    count = count_a + count_b
    share = count_b / tl.maximum(count, 1.0)
    delta = mean_b - mean_a
    return mean_a + delta * share, count, m2_a + m2_b + delta * delta * count_a * share


@triton.jit
def welford_kernel(x_ptr, mean_ptr, var_ptr, x_row, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = tl.zeros([BLOCK], tl.float32)
    m2 = tl.zeros([BLOCK], tl.float32)
    count = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        inside = cols < N
        x = tl.load(x_ptr + row * x_row + cols, mask=inside, other=0.0)
        count += tl.where(inside, 1.0, 0.0)
        new = tl.where(inside, mean + (x - mean) / tl.maximum(count, 1.0), mean)
        m2 += tl.where(inside, (x - mean) * (x - new), 0.0)
        mean = new
    mean_all, _count_all, m2_all = tl.reduce((mean, count, m2), 0, combine)
    tl.store(mean_ptr + row, mean_all)
    tl.store(var_ptr + row, m2_all / N)


def launch(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    mean = torch.empty(M, device="cuda")
    var = torch.empty(M, device="cuda")
    welford_kernel[(M,)](x, mean, var, x.stride(0), N, BLOCK=32)
    return mean, var


def reference(x):
    return x.mean(-1), x.var(-1, correction=0)


BROKEN = {
    "old_mean_twice": ("(x - mean) * (x - new)", "(x - mean) * (x - mean)", "value", "value"),
    "counts_the_padding": ("tl.where(inside, 1.0, 0.0)", "1.0", "value", "value"),
    "lanes_count_alike": ("delta * share, count", "delta * 0.5, count", "value", "value"),
    "mean_takes_the_padding": ("new = tl.where(inside, mean + (x - mean) / tl.maximum(count, 1.0), mean)",
                      "new = mean + (x - mean) / tl.maximum(count, 1.0)", "value", "value"),
    "spread_between_is_lost": ("m2_a + m2_b + delta * delta * count_a * share", "m2_a + m2_b", "value", "value"),
}
