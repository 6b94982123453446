"""Vector addition: each program adds one block of BLOCK elements, the last block under a mask."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


def launch(n=1000):
    x = torch.randn(n, device="cuda")
    y = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(n, 64),)](x, y, out, n, BLOCK=64)
    return out


def reference(x, y):
    return x + y


# What is changed, into what, which obligation that breaks, and how it shows when it runs.
BROKEN = {
    "mask_le": ("offsets < n", "offsets <= n", "bounds", "fault"),
    "missing_block": ("triton.cdiv(n, 64)", "n // 64", "coverage", "value"),
    "overlapping_blocks": ("program_id(0) * BLOCK", "program_id(0) * (BLOCK - 1)", "coverage", "proof"),
    "unmasked_load": ("tl.load(y_ptr + offsets, mask=inside)", "tl.load(y_ptr + offsets)", "bounds", "fault"),
    "wrong_operand": ("tl.load(y_ptr", "tl.load(x_ptr", "value", "value"),
}
