import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "the kernel writes the even elements; the odd ones stay the zeros that the host put there"


@triton.jit
def dilate_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(out + 2 * offs, v, mask=offs < n)


def launch(n=100):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.zeros(2 * n)
    dilate_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


def reference(x):
    return torch.stack([x, torch.zeros_like(x)], dim=-1).reshape(-1)
