import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "rows on the grid's y axis: fine up to 65,535 of them, and the example has 6"


@triton.jit
def gelu_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N)
    tl.store(out + row * N + cols, v * tl.sigmoid(v), mask=cols < N)


def launch(M=6, N=100):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M, N)
    gelu_kernel[(triton.cdiv(N, 64), M)](x, out, N, BLOCK=64)
    return out


def reference(x):
    return F.silu(x)
