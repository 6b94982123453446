import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "offs <= n lets lane n = 1000 through: x and out end at 999"


@triton.jit
def abs_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs <= n)
    tl.store(out + offs, tl.abs(v), mask=offs <= n)


def launch(n=1000):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.empty(n)
    abs_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def reference(x):
    return x.abs()
