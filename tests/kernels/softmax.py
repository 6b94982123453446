"""Softmax of each row: a program holds one row in one tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, x_row, out_row, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + cols, mask=cols < N, other=-float("inf"))
    shifted = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_row + cols, shifted / tl.sum(shifted, axis=0), mask=cols < N)


def launch(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    softmax_kernel[(M,)](x, out, x.stride(0), out.stride(0), N, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x):
    return torch.softmax(x, dim=-1)


BROKEN = {
    "missing_other": ('mask=cols < N, other=-float("inf")', "mask=cols < N", "undefined", "value"),
    "other_is_zero": ('other=-float("inf")', "other=0.0", "value", "value"),
    "mask_le": ("out_ptr + row * out_row + cols, shifted / tl.sum(shifted, axis=0), mask=cols < N",
                "out_ptr + row * out_row + cols, shifted / tl.sum(shifted, axis=0), mask=cols <= N", "race", "fault"),
    "missing_row": ("softmax_kernel[(M,)]", "softmax_kernel[(M - 1,)]", "coverage", "value"),
    "not_normalised": ("shifted / tl.sum(shifted, axis=0)", "shifted / tl.max(shifted, axis=0)", "value", "value"),
}
