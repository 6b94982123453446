import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "rows of 100 in a fixed tile of 64: columns 64 and on are never written"


@triton.jit
def tanh_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N)
    tl.store(out + row * N + cols, v * tl.sigmoid(v), mask=cols < N)


def launch(M=4, N=100):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M, N)
    tanh_kernel[(M,)](x, out, N, BLOCK=64)
    return out
