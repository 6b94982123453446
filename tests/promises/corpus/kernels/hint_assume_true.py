import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "assumes that the program is inside the grid and sizes are positive, which they are"


@triton.jit
def square_kernel(x, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.assume(pid >= 0)
    tl.assume(n > 0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(out + offs, v * v, mask=offs < n)


def launch(n=1000):
    torch.manual_seed(0)
    x = torch.randn(n)
    out = torch.empty(n)
    square_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out


def reference(x):
    return x * x
