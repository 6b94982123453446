"""Group normalisation, as unsloth and fla write it: one program a (batch, group)."""

import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "the channel is found with the group's width, not the image's"


@triton.jit
def group_norm_kernel(x_ptr, y_ptr, w_ptr, b_ptr, C, HW, G, eps, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    n = pid // G
    g = pid % G
    per = C // G
    size = per * HW
    base = n * C * HW + g * size
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + i, mask=i < size, other=0.0)
        total += x
        square += x * x
    mean = tl.sum(total, axis=0) / size
    var = tl.sum(square, axis=0) / size - mean * mean
    rstd = 1.0 / tl.sqrt(var + eps)
    for start in range(0, size, BLOCK):
        i = start + tl.arange(0, BLOCK)
        keep = i < size
        x = tl.load(x_ptr + base + i, mask=keep, other=0.0)
        c = g * per + i // per
        w = tl.load(w_ptr + c, mask=keep)
        b = tl.load(b_ptr + c, mask=keep)
        tl.store(y_ptr + base + i, (x - mean) * rstd * w + b, mask=keep)


def launch(N=2, C=12, HW=20, G=3, eps=1e-5):
    x = torch.randn(N, C, HW, device="cuda")
    weight = torch.randn(C, device="cuda")
    bias = torch.randn(C, device="cuda")
    y = torch.empty_like(x)
    group_norm_kernel[(N * G,)](x, y, weight, bias, C, HW, G, eps, BLOCK=32)
    return y


def reference(x, weight, bias, G=3, eps=1e-5):
    return torch.nn.functional.group_norm(x, G, weight, bias, eps)
