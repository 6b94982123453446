import torch
import triton
import triton.language as tl

TRUTH = "different"
WHY = "offs < n - 1 leaves the last element at the host's zero: safe, but not 2 x"


@triton.jit
def double_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n - 1
    tl.store(out + offs, 2.0 * tl.load(x + offs, mask=mask), mask=mask)


def launch(n=1000):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.zeros(n)
    double_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def reference(x):
    return 2 * x
