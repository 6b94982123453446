import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "row * N is called a multiple of 16, and N is 100: row 1 starts at 100"


@triton.jit
def relu_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = tl.multiple_of(row * N, 16)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + start + cols, mask=cols < N)
    tl.store(out + start + cols, tl.maximum(v, 0.0), mask=cols < N)


def launch(M=4, N=100):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M, N)
    relu_kernel[(M,)](x, out, N, BLOCK=128)
    return out


def reference(x):
    return x.relu()
