"""Apex's multi_tensor_adagrad, mode L2, for one tensor: state and parameter are updated in place."""
import torch
import triton
import triton.language as tl


@triton.jit
def adagrad_kernel(g_ptr, p_ptr, h_ptr, lr, eps, weight_decay, n_elements, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    g = tl.load(g_ptr + offs, mask=mask, other=0.0)
    p = tl.load(p_ptr + offs, mask=mask, other=0.0)
    h = tl.load(h_ptr + offs, mask=mask, other=0.0)
    g = g + weight_decay * p
    h = h + g * g
    p = p - lr * (g / (tl.sqrt(h) + eps))
    tl.store(p_ptr + offs, p, mask=mask)
    tl.store(h_ptr + offs, h, mask=mask)


def launch(n=1111):
    grad = torch.randn(n, device="cuda")
    param = torch.randn(n, device="cuda")
    state_sum = torch.rand(n, device="cuda")
    adagrad_kernel[(triton.cdiv(n, 512),)](grad, param, state_sum, 1e-2, 1e-10, 1e-3, n, BLOCK_SIZE=512)
    return param, state_sum


def reference(grad, param, state_sum):
    g = grad + 1e-3 * param
    new_sum = torch.addcmul(state_sum, g, g)
    return param - 1e-2 * g / (new_sum.sqrt() + 1e-10), new_sum


TRUTH = "verified"
