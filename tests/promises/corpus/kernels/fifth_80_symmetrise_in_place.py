"""Make square matrices symmetric in place: a program averages its tile with the tile across the diagonal."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def symmetrise_kernel(a_ptr, N, stride_b, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    base = a_ptr + tl.program_id(2) * stride_b
    mask = (i[:, None] < N) & (j[None, :] < N)
    here = base + i[:, None] * N + j[None, :]
    across = base + j[None, :] * N + i[:, None]
    mean = 0.5 * (tl.load(here, mask=mask, other=0.0) + tl.load(across, mask=mask, other=0.0))
    tl.store(here, mean, mask=mask)


def launch():
    a = torch.randn(2, 75, 75)
    B, N, _ = a.shape
    tiles = triton.cdiv(N, 32)
    symmetrise_kernel[(tiles, tiles, B)](a, N, a.stride(0), BLOCK=32)
    return a


def reference(a):
    return 0.5 * (a + a.transpose(-1, -2))
