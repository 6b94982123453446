import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def bias_act_kernel(x, bias, y, numel, C, HW, slope, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < numel
    c = (i // HW) % C
    v = tl.load(x + i, mask=ok) + tl.load(bias + c, mask=ok)
    tl.store(y + i, tl.where(v > 0, v, v * slope), mask=ok)


def launch(x, bias):
    x = x.contiguous()
    n, c, h, w = x.shape
    y = torch.empty_like(x)
    bias_act_kernel[(triton.cdiv(x.numel(), 256),)](x, bias, y, x.numel(), c, h * w, 0.2, BLOCK=256)
    return y


def reference(x, bias):
    return torch.nn.functional.leaky_relu(x + bias.view(1, -1, 1, 1), 0.2)


def inputs(n=2, c=5, h=6, w=7):
    return torch.randn(n, c, h, w), torch.randn(c)
