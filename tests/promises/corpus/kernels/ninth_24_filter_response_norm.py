"""Filter response normalisation with its thresholded linear unit, on NCHW; the mean of squares in chunks of the plane."""
import torch
import triton
import triton.language as tl


@triton.jit
def frn_nu2_kernel(x_ptr, nu2_ptr, HW, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + nc * HW + offs, mask=offs < HW, other=0.0)
    tl.atomic_add(nu2_ptr + nc, tl.sum(x * x, axis=0) / HW)


@triton.jit
def frn_apply_kernel(
    x_ptr, nu2_ptr, gamma_ptr, beta_ptr, tau_ptr, out_ptr, C, HW, eps, BLOCK: tl.constexpr
):
    nc = tl.program_id(0)
    c = nc % C
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < HW
    nu2 = tl.load(nu2_ptr + nc)
    gamma = tl.load(gamma_ptr + c)
    beta = tl.load(beta_ptr + c)
    tau = tl.load(tau_ptr + c)
    x = tl.load(x_ptr + nc * HW + offs, mask=mask)
    y = gamma * x * tl.rsqrt(nu2 + eps) + beta
    tl.store(out_ptr + nc * HW + offs, tl.maximum(y, tau), mask=mask)


def launch(N=3, C=5, H=9, W=11):
    x = torch.randn(N, C, H, W, device="cuda")
    gamma = torch.randn(C, device="cuda")
    beta = torch.randn(C, device="cuda")
    tau = torch.randn(C, device="cuda")
    nu2 = torch.empty(N, C, device="cuda")
    out = torch.empty_like(x)
    HW = H * W
    grid = (N * C, triton.cdiv(HW, 64))
    frn_nu2_kernel[grid](x, nu2, HW, BLOCK=64)
    frn_apply_kernel[grid](x, nu2, gamma, beta, tau, out, C, HW, 1e-6, BLOCK=64)
    return out


def reference(x, gamma, beta, tau):
    nu2 = x.square().mean(dim=(2, 3), keepdim=True)
    y = gamma[:, None, None] * x * torch.rsqrt(nu2 + 1e-6) + beta[:, None, None]
    return torch.maximum(y, tau[:, None, None])


TRUTH = "broken"
# WHY: nu2 is made by torch.empty, and the kernel adds to it atomically: the sum starts from whatever the memory held.
