import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def layer_norm_kernel(X, Y, W, B, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    xc = x - mean
    var = tl.sum(xc * xc, axis=0) / N
    rstd = tl.rsqrt(var + eps)
    w = tl.load(W + cols, mask=mask)
    b = tl.load(B + cols, mask=mask)
    tl.store(Y + cols, xc * rstd * w + b, mask=mask)


def launch(x, weight, bias):
    M, N = x.shape
    y = torch.empty_like(x)
    layer_norm_kernel[(M,)](x, y, weight, bias, x.stride(0), N, 1e-5, BLOCK=triton.next_power_of_2(N))
    return y


def reference(x, weight, bias):
    return F.layer_norm(x, weight.shape, weight, bias, 1e-5)


def inputs(M=6, N=75):
    return torch.randn(M, N) + 0.7, torch.randn(N), torch.randn(N)
