import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "slots are arange(n) // 2: two lanes write each slot with different values"


@triton.jit
def scatter_kernel(x, slots, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    s = tl.load(slots + offs, mask=mask, other=0)
    tl.store(out + s, tl.load(x + offs, mask=mask), mask=mask)


def launch(n=200):
    torch.manual_seed(0)
    x = torch.randn(n)
    slots = torch.arange(n) // 2
    out = torch.zeros(n)
    scatter_kernel[(triton.cdiv(n, 64),)](x, slots, out, n, BLOCK=64)
    return out
