"""A rational function of degrees 4 and 3 by Horner's rule, with the safe denominator 1 + |b1 x + b2 x^2 + b3 x^3|."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def horner(x, coef_ptr, DEGREE: tl.constexpr):
    acc = tl.load(coef_ptr + DEGREE) + tl.zeros_like(x)
    for k in tl.static_range(DEGREE):
        acc = acc * x + tl.load(coef_ptr + DEGREE - 1 - k)
    return acc


@triton.jit
def rational_kernel(x_ptr, a_ptr, b_ptr, out_ptr, n, P: tl.constexpr, Q: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    top = horner(x, a_ptr, P)
    bottom = 1.0 + tl.abs(horner(x, b_ptr, Q - 1) * x)
    tl.store(out_ptr + offs, top / bottom, mask=mask)


def launch():
    x = torch.randn(31, 77)
    a = torch.randn(5)
    b = torch.randn(3)
    out = torch.empty_like(x)
    n = x.numel()
    rational_kernel[(triton.cdiv(n, 512),)](x, a, b, out, n, P=4, Q=3, BLOCK=512)
    return out


def reference(x, a, b):
    top = a[0] + a[1] * x + a[2] * x ** 2 + a[3] * x ** 3 + a[4] * x ** 4
    return top / (1 + (b[0] * x + b[1] * x ** 2 + b[2] * x ** 3).abs())
