import torch
import triton
import triton.language as tl

TRUTH = "different"
WHY = "divides by the tile's 128 lanes instead of the row's 100 elements"


@triton.jit
def center_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N, other=0.0)
    tl.store(out + row * N + cols, v - tl.sum(v, 0) / BLOCK, mask=cols < N)


def launch(M=4, N=100):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M, N)
    center_kernel[(M,)](x, out, N, BLOCK=triton.next_power_of_2(N))
    return out


def reference(x):
    return x - x.mean(-1, keepdim=True)
