"""Layer scale and residual: out = residual + gamma * x, gamma along the channels."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_scale_add_kernel(x_ptr, res_ptr, gamma_ptr, out_ptr, n_elements, C, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    res = tl.load(res_ptr + offs, mask=mask)
    gamma = tl.load(gamma_ptr + offs % C, mask=mask)
    tl.store(out_ptr + offs, res + gamma * x, mask=mask)


def launch(B=2, T=5, C=48):
    x = torch.randn(B, T, C, device="cuda")
    residual = torch.randn(B, T, C, device="cuda")
    gamma = torch.randn(C, device="cuda")
    out = torch.empty_like(x)
    n = x.numel()
    layer_scale_add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, residual, gamma, out, n, C, BLOCK=256)
    return out


def reference(x, residual, gamma):
    return residual + gamma * x


TRUTH = "verified"
