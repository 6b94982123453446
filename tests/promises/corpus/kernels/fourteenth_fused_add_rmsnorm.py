"""VLLM-style fused residual add + RMSNorm, in place: residual becomes the sum, x becomes its normalised form times (1 + w) as Gemma has it."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_add_rmsnorm_kernel(x_ptr, res_ptr, w_ptr, x_stride, res_stride, hidden, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < hidden
    x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(res_ptr + row * res_stride + cols, mask=mask, other=0.0).to(tl.float32)
    s = x + r
    tl.store(res_ptr + row * res_stride + cols, s, mask=mask)
    rstd = tl.rsqrt(tl.sum(s * s, axis=0) / hidden + eps)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(x_ptr + row * x_stride + cols, s * rstd * (1.0 + w), mask=mask)


def fused_add_rmsnorm(x, residual, weight, eps=1e-6):
    tokens, hidden = x.shape
    fused_add_rmsnorm_kernel[(tokens,)](
        x, residual, weight, x.stride(0), residual.stride(0), hidden, eps, BLOCK=triton.next_power_of_2(hidden)
    )


def launch(tokens=5, hidden=100):
    x = torch.randn(tokens, hidden)
    residual = torch.randn(tokens, hidden)
    weight = torch.randn(hidden)
    fused_add_rmsnorm(x, residual, weight)
    return x, residual


def reference(x, residual, weight):
    s = x + residual
    return s * torch.rsqrt(s.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + weight), s
TRUTH = "verified"
