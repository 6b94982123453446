"""Dot product of two vectors in two kernels: partial sums of the blocks, then their sum by one program; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def dot_kernel_1(x_ptr, y_ptr, mid_ptr, N, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offset = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offset < N
    x = tl.load(x_ptr + offset, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + offset, mask=mask, other=0.0).to(tl.float32)
    tl.store(mid_ptr + pid, tl.sum(x * y))


@triton.jit
def dot_kernel_2(mid_ptr, out_ptr, MID, BLOCK_MID: tl.constexpr):
    acc = tl.zeros([BLOCK_MID], dtype=tl.float32)
    for start in range(0, MID, BLOCK_MID):
        offset = start + tl.arange(0, BLOCK_MID)
        acc += tl.load(mid_ptr + offset, mask=offset < MID, other=0.0)
    tl.store(out_ptr, tl.sum(acc))


def dot(x, y):
    N = x.shape[0]
    BLOCK = 64
    mid_size = triton.cdiv(N, BLOCK)
    mid = torch.empty((mid_size,), dtype=torch.float32)
    out = torch.empty([], dtype=x.dtype)
    dot_kernel_1[(mid_size,)](x, y, mid, N, BLOCK)
    dot_kernel_2[(1,)](mid, out, mid_size, 16)
    return out


def launch(N=1300):
    x = torch.randn(N)
    y = torch.randn(N)
    return dot(x, y)


def reference(x, y):
    return torch.dot(x, y)
