import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "70,000 programs on the grid's y axis, which holds 65,535"


@triton.jit
def silu_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N)
    tl.store(out + row * N + cols, v * tl.sigmoid(v), mask=cols < N)


def launch(M=70000, N=4):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M, N)
    silu_kernel[(triton.cdiv(N, 4), M)](x, out, N, BLOCK=4)
    return out
