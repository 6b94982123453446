import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "offs < n - 1 is right here: the last element stays the host's zero, as the reference pads"


@triton.jit
def shift_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n - 1
    tl.store(out + offs, tl.load(x + offs + 1, mask=mask), mask=mask)


def launch(n=1000):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.zeros(n)
    shift_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def reference(x):
    return F.pad(x[1:], (0, 1))
