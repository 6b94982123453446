"""LLM training: SwiGLU forward and backward on a packed gate|up projection, two kernels (Liger style, recomputed sigmoid)."""
import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_fwd_kernel(gu_ptr, y_ptr, stride_gu, stride_y, inter, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < inter
    gate = tl.load(gu_ptr + row * stride_gu + cols, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(gu_ptr + row * stride_gu + inter + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * stride_y + cols, gate * tl.sigmoid(gate) * up, mask=mask)


@triton.jit
def swiglu_bwd_kernel(dy_ptr, gu_ptr, dgu_ptr, stride_dy, stride_gu, stride_dgu, inter, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < inter
    dy = tl.load(dy_ptr + row * stride_dy + cols, mask=mask, other=0.0).to(tl.float32)
    gate = tl.load(gu_ptr + row * stride_gu + cols, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(gu_ptr + row * stride_gu + inter + cols, mask=mask, other=0.0).to(tl.float32)
    sig = tl.sigmoid(gate)
    silu = gate * sig
    dgate = dy * up * (silu * (1.0 - sig) + sig)
    tl.store(dgu_ptr + row * stride_dgu + cols, dgate, mask=mask)
    tl.store(dgu_ptr + row * stride_dgu + inter + cols, dy * silu, mask=mask)


def launch(rows=5, inter=90):
    gate_up = torch.randn(rows, 2 * inter, device="cuda")
    dy = torch.randn(rows, inter, device="cuda")
    y = torch.empty_like(dy)
    d_gate_up = torch.empty_like(gate_up)
    grid = (rows, triton.cdiv(inter, 64))
    swiglu_fwd_kernel[grid](gate_up, y, gate_up.stride(0), y.stride(0), inter, BLOCK=64)
    swiglu_bwd_kernel[grid](dy, gate_up, d_gate_up, dy.stride(0), gate_up.stride(0), d_gate_up.stride(0), inter, BLOCK=64)
    return y, d_gate_up


def reference(gate_up, dy):
    x = gate_up.detach().clone().requires_grad_()
    gate, up = x.chunk(2, dim=-1)
    y = torch.nn.functional.silu(gate) * up
    (dx,) = torch.autograd.grad(y, x, dy)
    return y.detach(), dx

TRUTH = "verified"
