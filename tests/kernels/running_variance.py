"""Variance of each row, kept up to date itself: no rule for loops knows this recurrence, so it is searched for."""

import torch
import triton
import triton.language as tl


@triton.jit
def running_variance_kernel(x_ptr, var_ptr, x_row, N):
    row = tl.program_id(0)
    mean = 0.0
    var = 0.0
    for k in range(N):
        x = tl.load(x_ptr + row * x_row + k)
        new = mean + (x - mean) / (k + 1)
        var = (k * var + (x - mean) * (x - new)) / (k + 1)
        mean = new
    tl.store(var_ptr + row, var)


def launch(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    var = torch.empty(M, device="cuda")
    running_variance_kernel[(M,)](x, var, x.stride(0), N)
    return var


def reference(x):
    return x.var(-1, correction=0)


BROKEN = {
    "one_too_few": ("(k * var + (x - mean) * (x - new)) / (k + 1)", "(k * var + (x - mean) * (x - new)) / (k + 2)",
                    "value", "value"),
    "new_mean_twice": ("(x - mean) * (x - new)", "(x - new) * (x - new)", "value", "value"),
    "mean_comes_first": ("        var = (k * var", "        mean = new\n        var = (k * var", "value", "value"),
}
