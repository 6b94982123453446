import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "slots are n - 1 - arange(n), a permutation that the host counts"


@triton.jit
def scatter_kernel(x, slots, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    s = tl.load(slots + offs, mask=mask, other=0)
    tl.store(out + s, tl.load(x + offs, mask=mask), mask=mask)


def launch(n=200):
    torch.manual_seed(0)
    x = torch.randn(n)
    slots = n - 1 - torch.arange(n)
    out = torch.empty(n)
    scatter_kernel[(triton.cdiv(n, 64),)](x, slots, out, n, BLOCK=64)
    return out


def reference(x):
    return x.flip(0)
