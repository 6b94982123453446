import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def mean_var(x_ptr, mean_ptr, var_ptr, n_cols, correction: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + offs, mask=offs < n_cols, other=0.0)
    mean = tl.sum(x, 0) / n_cols
    centred = tl.where(offs < n_cols, x - mean, 0.0)
    var = tl.sum(centred * centred, 0) / (n_cols - correction)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, var)


def row_stats(x):
    rows, cols = x.shape
    mean, var = x.new_empty(rows), x.new_empty(rows)
    mean_var[(rows,)](x, mean, var, cols, correction=1, BLOCK=triton.next_power_of_2(cols))
    return mean, var


def reference(x):
    return x.mean(dim=1), x.var(dim=1)


def launch():
    x = torch.randn(8, 59) * 2 + 1
    return row_stats(x)


def inputs(rows=8, cols=59):
    return (torch.randn(rows, cols) * 2 + 1,)
