"""Instance norm over H·W with an affine weight; broken: lanes beyond H·W add mean² to the variance (the mask was forgotten there)."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def instance_norm_kernel(x_ptr, w_ptr, b_ptr, y_ptr, C, HW, eps, BLOCK: tl.constexpr):
    nc = tl.program_id(0)
    c = nc % C
    x_ptr += nc * HW
    y_ptr += nc * HW
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, HW, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offs, mask=offs < HW, other=0.0)
    mean = tl.sum(total, axis=0) / HW
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, HW, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        d = tl.load(x_ptr + offs, mask=offs < HW, other=0.0) - mean
        square += d * d
    rstd = 1 / tl.sqrt(tl.sum(square, axis=0) / HW + eps)
    w = tl.load(w_ptr + c)
    b = tl.load(b_ptr + c)
    for start in range(0, HW, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < HW, other=0.0)
        tl.store(y_ptr + offs, (x - mean) * rstd * w + b, mask=offs < HW)


def instance_norm(x, weight, bias, eps=1e-5):
    B, C, H, W = x.shape
    y = torch.empty_like(x)
    instance_norm_kernel[(B * C,)](x, weight, bias, y, C, H * W, eps, BLOCK=64)
    return y


def launch(B=2, C=3, H=8, W=16):
    x = torch.randn(B, C, H, W) + 1.0
    weight = torch.randn(C)
    bias = torch.randn(C)
    return instance_norm(x, weight, bias)


def reference(x, weight, bias, eps=1e-5):
    return torch.nn.functional.instance_norm(x, weight=weight, bias=bias, eps=eps)
