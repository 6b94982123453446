import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "the host makes x contiguous before a kernel that knows no strides"


@triton.jit
def softmax_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * N + cols, e / tl.sum(e, 0), mask=cols < N)


def launch(M=7, N=40):
    torch.manual_seed(0)
    x = torch.randn(N, M).t()
    x = x.contiguous()
    out = torch.empty(M, N)
    softmax_kernel[(M,)](x, out, N, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x):
    return x.softmax(-1)
