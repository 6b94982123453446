import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "the source index is i * 0.5 in float32, exact below 2^24: repeat_interleave by 2"


@triton.jit
def upsample_kernel(x, out, n_out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n_out
    src = (offs.to(tl.float32) * 0.5).to(tl.int32)
    tl.store(out + offs, tl.load(x + src, mask=mask), mask=mask)


def launch(n=150):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.empty(2 * n)
    upsample_kernel[(triton.cdiv(2 * n, 128),)](x, out, 2 * n, BLOCK=128)
    return out


def reference(x):
    return x.repeat_interleave(2)
