import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "assumes n % 16 == 0, and the example's n is 1000 (1000 = 62 * 16 + 8)"


@triton.jit
def square_kernel(x, out, n, BLOCK: tl.constexpr):
    tl.assume(n % 16 == 0)
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(out + offs, v * v, mask=offs < n)


def launch(n=1000):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.empty(n)
    square_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def reference(x):
    return x * x
