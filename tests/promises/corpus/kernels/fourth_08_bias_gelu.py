"""Bias and tanh-GELU of a two-dimensional activation in one flat kernel; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def gelu_tanh(x):
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + (2.0 * tl.sigmoid(2.0 * inner) - 1.0))


@triton.jit
def bias_gelu_kernel(x_ptr, bias_ptr, out_ptr, n_elements, hidden, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    b = tl.load(bias_ptr + offs % hidden, mask=mask)
    tl.store(out_ptr + offs, gelu_tanh(x + b), mask=mask)


def bias_gelu(x, bias):
    out = torch.empty_like(x)
    n = x.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)  # noqa: E731
    bias_gelu_kernel[grid](x, bias, out, n, x.shape[-1], BLOCK=128)
    return out


def launch(tokens=9, hidden=70):
    x = torch.randn(tokens, hidden)
    bias = torch.randn(hidden)
    return bias_gelu(x, bias)


def reference(x, bias):
    return torch.nn.functional.gelu(x + bias, approximate="tanh")
