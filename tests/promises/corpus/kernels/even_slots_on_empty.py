import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "the kernel writes the even elements; the odd ones are never written, and the host left them empty"


@triton.jit
def dilate_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(out + 2 * offs, v, mask=offs < n)


def launch(n=100):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.empty(2 * n)
    dilate_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out
