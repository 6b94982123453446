"""Softmax of each row, however long: running maximum and rescaled sum over column blocks, then a second pass."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, x_row, out_row, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + cols, mask=cols < N, other=-float("inf"))
        now = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - now) + tl.sum(tl.exp(x - now), axis=0)
        largest = now
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + cols, mask=cols < N)
        tl.store(out_ptr + row * out_row + cols, tl.exp(x - largest) / total, mask=cols < N)


def launch(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    softmax_kernel[(M,)](x, out, x.stride(0), out.stride(0), N, BLOCK=32)
    return out


def reference(x):
    return torch.softmax(x, dim=-1)


BROKEN = {
    "missing_rescale": ("total * tl.exp(largest - now) +", "total +", "value", "value"),
    "missing_other": ('mask=cols < N, other=-float("inf")', "mask=cols < N", "undefined", "value"),
    "loop_too_short": ("""range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + cols, mask=cols < N, other""", """range(0, N - BLOCK, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_row + cols, mask=cols < N, other""", "value", "value"),
    "mask_le": ("/ total, mask=cols < N", "/ total, mask=cols <= N", "race", "fault"),
    "not_kept": ("        largest = now\n", "        largest = tl.max(x, axis=0)\n", "value", "value"),
}
