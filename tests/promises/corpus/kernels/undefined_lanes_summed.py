import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "masked lanes have no `other`, so the sum of a row of 100 in a tile of 128 holds 28 undefined values"


@triton.jit
def rowsum_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N)
    tl.store(out + row, tl.sum(v, 0))


def launch(M=4, N=100):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M)
    rowsum_kernel[(M,)](x, out, N, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x):
    return x.sum(-1)
