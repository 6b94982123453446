"""SwiGLU on a packed projection: gate and up lie side by side in one row."""

import torch
import triton
import triton.language as tl

import torch.nn.functional as F


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_packed_kernel(gate_up_ptr, out_ptr, stride_in, stride_out, N, BLOCK_N: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = cols < N
    gate = tl.load(gate_up_ptr + row * stride_in + cols, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(gate_up_ptr + row * stride_in + N + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * stride_out + cols, (silu(gate) * up).to(out_ptr.dtype.element_ty), mask=mask)


def swiglu(gate_up):
    rows, twice = gate_up.shape
    n = twice // 2
    out = torch.empty((rows, n), dtype=gate_up.dtype, device=gate_up.device)
    BLOCK_N = 64
    grid = (rows, triton.cdiv(n, BLOCK_N))
    swiglu_packed_kernel[grid](gate_up, out, gate_up.stride(0), out.stride(0), n, BLOCK_N=BLOCK_N)
    return out


def launch(M=6, N=100):
    gate_up = torch.randn(M, 2 * N, device="cuda", dtype=torch.float16)
    return swiglu(gate_up)


def reference(gate_up):
    gate, up = gate_up.float().chunk(2, dim=-1)
    return (F.silu(gate) * up).to(gate_up.dtype)


TRUTH = "verified"
