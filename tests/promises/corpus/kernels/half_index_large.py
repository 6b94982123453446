import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "columns pass through float16: odd ones above 2048 are rounded to even, so their outputs are never written"


@triton.jit
def scale_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK).to(tl.float16).to(tl.int32)
    v = tl.load(x + row * N + cols, mask=cols < N)
    tl.store(out + row * N + cols, v * 3.0, mask=cols < N)


def launch(M=2, N=3000):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M, N)
    scale_kernel[(M,)](x, out, N, BLOCK=4096)
    return out
