import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "the grid is n // BLOCK: with n = 1000 the last 104 elements are never written"


@triton.jit
def exp_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(out + offs, tl.exp(v), mask=offs < n)


def launch(n=1000):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.empty(n)
    exp_kernel[(n // 128,)](x, out, n, BLOCK=128)
    return out
