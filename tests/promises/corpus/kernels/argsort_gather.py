import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "the order is an argsort over the same rows"


@triton.jit
def gather_kernel(x, order, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    src = tl.load(order + offs, mask=mask, other=0)
    tl.store(out + offs, tl.load(x + src, mask=mask), mask=mask)


def launch(n=300):
    torch.manual_seed(0)
    x = torch.randn(n)
    order = torch.argsort(x, descending=True)
    out = torch.empty(n)
    gather_kernel[(triton.cdiv(n, 128),)](x, order, out, n, BLOCK=128)
    return out


def reference(x, order):
    return x[order]
