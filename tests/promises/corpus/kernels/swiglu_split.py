"""SwiGLU of one projection whose halves lie side by side."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def swiglu_kernel(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    half = D // 2
    keep = i < half
    gate = tl.load(x_ptr + row * D + i, mask=keep, other=0.0).to(tl.float32)
    up = tl.load(x_ptr + row * D + half + i, mask=keep, other=0.0)
    tl.store(y_ptr + row * half + i, gate * tl.sigmoid(gate) * up, mask=keep)


def launch(M=5, D=84):
    x = torch.randn(M, D, device="cuda")
    y = torch.empty(M, D // 2, device="cuda")
    swiglu_kernel[(M, triton.cdiv(D // 2, 32))](x, y, D, BLOCK=32)
    return y


def reference(x):
    gate, up = x.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up
