import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "block starts are multiples of BLOCK, and offsets in a block follow one another"


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    start = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK)
    offs = tl.max_contiguous(start + tl.arange(0, BLOCK), BLOCK)
    mask = offs < n
    tl.store(out + offs, tl.load(x + offs, mask=mask) + tl.load(y + offs, mask=mask), mask=mask)


def launch(n=1000):
    torch.manual_seed(0)
    x = torch.randn(n)
    y = torch.randn(n)
    out = torch.empty(n)
    add_kernel[(triton.cdiv(n, 128),)](x, y, out, n, BLOCK=128)
    return out


def reference(x, y):
    return x + y
