"""Clamped SwiGLU on interleaved gate and up columns, as gpt-oss has it."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _swigluoai_and_mul_kernel(out_ptr, x_ptr, stride_xt, stride_ot, d, alpha, limit, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < d
    row = x_ptr + token * stride_xt
    gate = tl.load(row + 2 * cols, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(row + 2 * cols + 1, mask=mask, other=0.0).to(tl.float32)
    gate = tl.minimum(gate, limit)
    up = tl.minimum(tl.maximum(up, -limit), limit)
    glu = gate * tl.sigmoid(gate * alpha)
    tl.store(out_ptr + token * stride_ot + cols, (up + 1.0) * glu, mask=mask)


def swigluoai_and_mul(x, alpha=1.702, limit=7.0):
    tokens, width = x.shape
    d = width // 2
    out = torch.empty((tokens, d), dtype=x.dtype)
    block = 256
    _swigluoai_and_mul_kernel[(tokens, triton.cdiv(d, block))](out, x, x.stride(0), out.stride(0), d, alpha, limit, BLOCK=block)
    return out


def launch():
    tokens, d = 11, 360
    x = 4 * torch.randn(tokens, 2 * d)
    return swigluoai_and_mul(x)


def reference(x):
    gate, up = x[:, 0::2], x[:, 1::2]
    gate = gate.clamp(max=7.0)
    up = up.clamp(min=-7.0, max=7.0)
    return (up + 1) * (gate * torch.sigmoid(gate * 1.702))
