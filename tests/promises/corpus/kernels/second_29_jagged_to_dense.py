"""Jagged rows to a padded batch of fixed length; rows that are longer are cut."""

import torch
import triton
import triton.language as tl

MAX_LEN = 16
PAD = -1.0


@triton.jit
def jagged_to_dense_kernel(
    values_ptr, offsets_ptr, dense_ptr, D, pad_value, MAX_LEN: tl.constexpr, BLOCK_D: tl.constexpr
):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    start = tl.load(offsets_ptr + b)
    stop = tl.load(offsets_ptr + b + 1)
    i = tl.arange(0, MAX_LEN)
    src = start + i
    live = (src[:, None] < stop) & (d[None, :] < D)
    v = tl.load(values_ptr + src[:, None] * D + d[None, :], mask=live, other=pad_value)
    tl.store(dense_ptr + (b * MAX_LEN + i)[:, None] * D + d[None, :], v, mask=d[None, :] < D)


def launch(B=4, D=10):
    lengths = torch.randint(0, 20, (B,), device="cuda")
    offsets = torch.zeros(B + 1, dtype=torch.int64, device="cuda")
    offsets[1:] = torch.cumsum(lengths, 0)
    values = torch.randn(20 * B, D, device="cuda")
    dense = torch.empty(B, MAX_LEN, D, device="cuda")
    jagged_to_dense_kernel[(B, triton.cdiv(D, 8))](values, offsets, dense, D, PAD, MAX_LEN=MAX_LEN, BLOCK_D=8)
    return dense


def reference(values, offsets):
    src = offsets[:-1, None] + torch.arange(MAX_LEN, device=values.device)
    live = src < offsets[1:, None]
    rows = values[torch.where(live, src, torch.zeros_like(src))]
    return torch.where(live[:, :, None], rows, torch.full_like(rows, PAD))


TRUTH = "verified"
