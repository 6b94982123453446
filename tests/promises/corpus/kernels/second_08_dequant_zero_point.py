"""Dequantise an int8 weight with a zero point and a scale for each row."""

import torch
import triton
import triton.language as tl


@triton.jit
def dequant_kernel(q_ptr, zero_ptr, scale_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < N
    q = tl.load(q_ptr + row * N + cols, mask=mask, other=0)
    zero = tl.load(zero_ptr + row)
    scale = tl.load(scale_ptr + row)
    w = (q - zero).to(tl.float32) * scale
    tl.store(out_ptr + row * N + cols, w, mask=mask)


def launch(M=6, N=90):
    q = torch.randint(-128, 128, (M, N), dtype=torch.int8, device="cuda")
    zero = torch.randint(-128, 128, (M,), dtype=torch.int8, device="cuda")
    scale = torch.rand(M, device="cuda") + 0.01
    out = torch.empty(M, N, device="cuda")
    dequant_kernel[(M, triton.cdiv(N, 64))](q, zero, scale, out, N, BLOCK=64)
    return out


def reference(q, zero, scale):
    return (q.float() - zero.float()[:, None]) * scale[:, None]


TRUTH = "different"
