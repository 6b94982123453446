"""Adds the residual in place and RMS-normalises the sum into x, as vLLM's fused_add_rms_norm does; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def fused_add_rms_norm_kernel(x_ptr, residual_ptr, weight_ptr, stride_x, stride_r, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(residual_ptr + row * stride_r + cols, mask=mask, other=0.0).to(tl.float32)
    s = x + r
    tl.store(residual_ptr + row * stride_r + cols, s, mask=mask)
    var = tl.sum(s * s, axis=0) / N
    w = tl.load(weight_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(x_ptr + row * stride_x + cols, s * tl.rsqrt(var + eps) * w, mask=mask)


def fused_add_rms_norm(x, residual, weight, eps=1e-6):
    M, N = x.shape
    fused_add_rms_norm_kernel[(M,)](x, residual, weight, x.stride(0), residual.stride(0), N, eps,
                                    BLOCK=triton.next_power_of_2(N))
    return x, residual


def launch(M=6, N=96):
    x = torch.randn(M, N)
    residual = torch.randn(M, N)
    weight = torch.randn(N)
    return fused_add_rms_norm(x, residual, weight)


def reference(x, residual, weight, eps=1e-6):
    s = x + residual
    return s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + eps) * weight, s
