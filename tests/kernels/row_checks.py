"""Of each row, however long: whether all elements are positive, how many are, and their product."""

import torch
import triton
import triton.language as tl


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def row_checks_kernel(x_ptr, positive_ptr, count_ptr, product_ptr, row_stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    positive = tl.full([BLOCK], 1, tl.int1)
    count = tl.zeros([BLOCK], tl.float32)
    product = tl.full([BLOCK], 1.0, tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        inside = cols < N
        x = tl.load(x_ptr + row * row_stride + cols, mask=inside, other=1.0)
        positive = positive & (x > 0)
        count += tl.where(inside & (x > 0), 1.0, 0.0)
        product *= x
    tl.store(positive_ptr + row, tl.reduce(positive, 0, both))
    tl.store(count_ptr + row, tl.sum(count, 0))
    tl.store(product_ptr + row, tl.reduce(product, 0, times))


def launch(M=7, N=50):
    x = torch.rand(M, N, device="cuda") + 0.5
    positive = torch.empty(M, dtype=torch.bool, device="cuda")
    count = torch.empty(M, device="cuda")
    product = torch.empty(M, device="cuda")
    row_checks_kernel[(M,)](x, positive, count, product, x.stride(0), N, BLOCK=16)
    return positive, count, product


def reference(x):
    return (x > 0).all(-1), (x > 0).sum(-1).float(), x.prod(-1)


BROKEN = {
    "padded_with_zero": ("mask=inside, other=1.0", "mask=inside, other=0.0", "value", "value"),
    "missing_other": ("mask=inside, other=1.0", "mask=inside", "undefined", "value"),
    "counts_the_padding": ("tl.where(inside & (x > 0), 1.0, 0.0)", "tl.where(x > 0, 1.0, 0.0)", "value", "value"),
    "starts_at_zero": ("tl.full([BLOCK], 1.0, tl.float32)", "tl.full([BLOCK], 0.0, tl.float32)", "value", "value"),
}
