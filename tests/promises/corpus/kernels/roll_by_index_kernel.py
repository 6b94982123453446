import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "the first kernel writes (i + 1) mod n, which the second reads as an index"


@triton.jit
def index_kernel(idx, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(idx + offs, (offs + 1) % n, mask=offs < n)


@triton.jit
def gather_kernel(x, idx, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    src = tl.load(idx + offs, mask=mask, other=0)
    tl.store(out + offs, tl.load(x + src, mask=mask), mask=mask)


def launch(n=200):
    torch.manual_seed(0)
    x = torch.randn(n)
    idx = torch.empty(n, dtype=torch.int32)
    out = torch.empty(n)
    grid = (triton.cdiv(n, 64),)
    index_kernel[grid](idx, n, BLOCK=64)
    gather_kernel[grid](x, idx, out, n, BLOCK=64)
    return out


def reference(x):
    return torch.roll(x, -1)
