import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "in place, each program reads the first element of the next one, which that one writes"


@triton.jit
def smooth_kernel(x, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + offs, mask=offs < n)
    b = tl.load(x + offs + 1, mask=offs + 1 < n, other=0.0)
    tl.store(x + offs, 0.5 * (a + b), mask=offs < n)


def launch(n=300):
    torch.manual_seed(0)
    x = torch.randn(n)
    smooth_kernel[(triton.cdiv(n, 64),)](x, n, BLOCK=64)
    return x
