"""Backward of gelu_tanh(gate) * up."""

import torch
import triton
import triton.language as tl

import torch.nn.functional as F


@triton.jit
def tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def geglu_backward_kernel(dy_ptr, gate_ptr, up_ptr, dgate_ptr, dup_ptr, n_elements, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    dy = tl.load(dy_ptr + offs, mask=mask, other=0.0)
    a = tl.load(gate_ptr + offs, mask=mask, other=0.0)
    b = tl.load(up_ptr + offs, mask=mask, other=0.0)

    sqrt_2_over_pi = 0.7978845608028654
    t = tanh(sqrt_2_over_pi * (a + 0.044715 * a * a * a))
    gelu_a = 0.5 * a * (1.0 + t)
    term1 = 0.5 * (1.0 + t)
    term2 = 0.5 * a * (1.0 - t * t) * (sqrt_2_over_pi * (1.0 + 3.0 * 0.044715 * a * a))

    tl.store(dup_ptr + offs, dy * gelu_a, mask=mask)
    tl.store(dgate_ptr + offs, dy * b * (term1 + term2), mask=mask)


def launch(M=7, N=45):
    dy = torch.randn(M, N, device="cuda")
    gate = torch.randn(M, N, device="cuda")
    up = torch.randn(M, N, device="cuda")
    dgate = torch.empty_like(gate)
    dup = torch.empty_like(up)
    n = dy.numel()
    geglu_backward_kernel[(triton.cdiv(n, 128),)](dy, gate, up, dgate, dup, n, BLOCK=128)
    return dgate, dup


def reference(dy, gate, up):
    gate = gate.detach().requires_grad_(True)
    up = up.detach().requires_grad_(True)
    out = F.gelu(gate, approximate="tanh") * up
    return torch.autograd.grad(out, (gate, up), dy)


TRUTH = "verified"
