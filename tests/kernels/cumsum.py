"""Cumulative sum along each row: a scan of each block, carried over to the next."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, row_stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carried = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * row_stride + cols, mask=cols < N, other=0.0)
        tl.store(out_ptr + row * row_stride + cols, carried + tl.cumsum(x, axis=0), mask=cols < N)
        carried += tl.sum(x, axis=0)


def launch(M=5, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    cumsum_kernel[(M,)](x, out, x.stride(0), N, BLOCK=32)
    return out


def reference(x):
    return torch.cumsum(x, dim=-1)


BROKEN = {
    "not_carried": ("carried += tl.sum(x, axis=0)", "carried = tl.sum(x, axis=0)", "value", "value"),
    "carried_twice": ("carried + tl.cumsum(x, axis=0)", "2 * carried + tl.cumsum(x, axis=0)", "value", "value"),
    "backwards": ("tl.cumsum(x, axis=0)", "tl.cumsum(x, axis=0, reverse=True)", "value", "value"),
    "mask_le": ("axis=0), mask=cols < N", "axis=0), mask=cols <= N", "race", "fault"),
    "loop_too_short": ("range(0, N, BLOCK)", "range(0, N - 1, BLOCK)", "coverage", "proof"),
}
