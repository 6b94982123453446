"""torch.roll along the last dimension; broken: (j − shift) % N keeps the sign of j − shift in Triton, so the first columns read before the row."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def roll_kernel(x_ptr, out_ptr, shift, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < N
    source = (cols - shift) % N
    tl.store(out_ptr + row * N + cols, tl.load(x_ptr + row * N + source, mask=mask), mask=mask)


def roll(x, shift=3):
    M, N = x.shape
    out = torch.empty_like(x)
    roll_kernel[(M, triton.cdiv(N, 32))](x, out, shift, N, BLOCK=32)
    return out


def launch(M=5, N=50):
    x = torch.randn(M, N)
    return roll(x)


def reference(x):
    return torch.roll(x, 3, dims=-1)
