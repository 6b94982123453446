import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "the offsets of a column are N apart, and are called contiguous in runs of 16"


@triton.jit
def column_kernel(x, out, M, N, BLOCK: tl.constexpr):
    col = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    offs = tl.max_contiguous(rows * N + col, 16)
    v = tl.load(x + offs, mask=rows < M)
    tl.store(out + col * M + rows, v, mask=rows < M)


def launch(M=30, N=12):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(N, M)
    column_kernel[(N,)](x, out, M, N, BLOCK=triton.next_power_of_2(M))
    return out


def reference(x):
    return x.t()
