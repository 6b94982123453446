"""Variance by Welford's combination in a reduction of triples, as inductor prints it."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def combine(mean1, m21, n1, mean2, m22, n2):
    n = n1 + n2
    delta = mean2 - mean1
    share = tl.where(n == 0.0, 0.0, n2 / n)
    return mean1 + delta * share, m21 + m22 + delta * delta * n1 * share, n


@triton.jit
def variance_kernel(x_ptr, mean_ptr, var_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    keep = i < N
    x = tl.load(x_ptr + row * N + i, mask=keep, other=0.0)
    n = tl.where(keep, 1.0, 0.0)
    mean, m2, count = tl.reduce((x, tl.zeros((BLOCK,), tl.float32), n), 0, combine)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, m2 / count)


def launch(M=6, N=50):
    x = torch.randn(M, N, device="cuda")
    mean = torch.empty(M, device="cuda")
    var = torch.empty(M, device="cuda")
    variance_kernel[(M,)](x, mean, var, N, BLOCK=64)
    return mean, var


def reference(x):
    return x.mean(-1), x.var(-1, unbiased=False)
