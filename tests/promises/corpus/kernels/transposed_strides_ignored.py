import torch
import triton
import triton.language as tl

TRUTH = "different"
WHY = "x is a transposed view, and the kernel reads it as rows of N: safe, but other elements"


@triton.jit
def copy_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N)
    tl.store(out + row * N + cols, 2.0 * v, mask=cols < N)


def launch(M=7, N=40):
    torch.manual_seed(0)
    x = torch.randn(N, M).t()
    out = torch.empty(M, N)
    copy_kernel[(M,)](x, out, N, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x):
    return 2 * x
