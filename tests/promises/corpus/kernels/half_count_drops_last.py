import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "the count 2049 passes through float16 and becomes 2048: out[2048] is never written"


@triton.jit
def neg_kernel(x, lengths, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.load(lengths).to(tl.float16).to(tl.int32)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(out + offs, -v, mask=offs < n)


def launch(n=2049):
    torch.manual_seed(0)
    x = torch.randn(n)
    lengths = torch.tensor([n], dtype=torch.int32)
    out = torch.empty(n)
    neg_kernel[(triton.cdiv(n, 256),)](x, lengths, out, BLOCK=256)
    return out
