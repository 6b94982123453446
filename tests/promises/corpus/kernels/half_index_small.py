import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "columns pass through float16, which holds every integer below 1024 exactly; the tile has 1024 lanes"


@triton.jit
def scale_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK).to(tl.float16).to(tl.int32)
    v = tl.load(x + row * N + cols, mask=cols < N)
    tl.store(out + row * N + cols, v * 3.0, mask=cols < N)


def launch(M=3, N=1000):
    torch.manual_seed(0)
    x = torch.randn(M, N)
    out = torch.empty(M, N)
    scale_kernel[(M,)](x, out, N, BLOCK=1024)
    return out


def reference(x):
    return 3 * x
