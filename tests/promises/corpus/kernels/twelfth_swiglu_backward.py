"""Gradients of silu(gate) * up, written back in the packed layout; the column tail is masked and every element is stored once."""
import torch
import triton
import triton.language as tl


@triton.jit
def swiglu_backward_kernel(dy_ptr, gate_up_ptr, grad_ptr, inter, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < inter
    gate_row = gate_up_ptr + row * 2 * inter
    gate = tl.load(gate_row + cols, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(gate_row + inter + cols, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * inter + cols, mask=mask, other=0.0).to(tl.float32)
    sig = tl.sigmoid(gate)
    silu = gate * sig
    dgate = dy * up * (sig + silu * (1.0 - sig))
    dup = dy * silu
    out_row = grad_ptr + row * 2 * inter
    tl.store(out_row + cols, dgate, mask=mask)
    tl.store(out_row + inter + cols, dup, mask=mask)


def launch(tokens=9, inter=200):
    gate_up = torch.randn(tokens, 2 * inter, device="cuda")
    dy = torch.randn(tokens, inter, device="cuda")
    grad = torch.empty_like(gate_up)
    swiglu_backward_kernel[(tokens, triton.cdiv(inter, 64))](dy, gate_up, grad, inter, BLOCK=64)
    return grad


def reference(gate_up, dy):
    gate, up = gate_up.chunk(2, dim=-1)
    sig = torch.sigmoid(gate)
    dgate = dy * up * sig * (1 + gate * (1 - sig))
    dup = dy * gate * sig
    return torch.cat([dgate, dup], dim=-1)


TRUTH = "verified"
