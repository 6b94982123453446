import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "both launches write n // 2 elements: with n = 301 the last one is never written"


@triton.jit
def part_kernel(x, out, lo, hi, factor, BLOCK: tl.constexpr):
    offs = lo + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < hi)
    tl.store(out + offs, v * factor, mask=offs < hi)


def launch(n=301):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.empty(n)
    h = n // 2
    part_kernel[(triton.cdiv(h, 64),)](x, out, 0, h, 2.0, BLOCK=64)
    part_kernel[(triton.cdiv(h, 64),)](x, out, h, h + h, 3.0, BLOCK=64)
    return out
