"""Histogram of bytes by atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def histogram_kernel(codes_ptr, hist_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    codes = tl.load(codes_ptr + offs, mask=mask, other=0).to(tl.int32)
    tl.atomic_add(hist_ptr + codes, 1, mask=mask)


def launch(n=700):
    codes = torch.randint(0, 256, (n,), dtype=torch.uint8, device="cuda")
    hist = torch.zeros(256, dtype=torch.int32, device="cuda")
    histogram_kernel[(triton.cdiv(n, 256),)](codes, hist, n, BLOCK=256)
    return hist


def reference(codes):
    hist = torch.zeros(256, dtype=torch.int32, device=codes.device)
    return hist.scatter_add(0, codes.long(), torch.ones_like(codes, dtype=torch.int32))


TRUTH = "verified"
