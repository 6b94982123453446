"""Residual added in place and RMS-normalised, as serving engines fuse it."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def rms_kernel(x_ptr, res_ptr, w_ptr, y_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    keep = i < N
    x = tl.load(x_ptr + row * stride + i, mask=keep, other=0.0)
    r = tl.load(res_ptr + row * stride + i, mask=keep, other=0.0)
    s = x + r
    tl.store(res_ptr + row * stride + i, s, mask=keep)
    var = tl.sum(s * s, axis=0) / N
    w = tl.load(w_ptr + i, mask=keep, other=0.0)
    tl.store(y_ptr + row * stride + i, s * tl.rsqrt(var + eps) * w, mask=keep)


def launch(M=5, N=50, eps=1e-6):
    x = torch.randn(M, N, device="cuda")
    residual = torch.randn(M, N, device="cuda")
    weight = torch.randn(N, device="cuda")
    y = torch.empty_like(x)
    rms_kernel[(M,)](x, residual, weight, y, x.stride(0), N, eps, BLOCK=triton.next_power_of_2(N))
    return y, residual


def reference(x, residual, weight, eps=1e-6):
    s = x + residual
    return s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + eps) * weight, s
