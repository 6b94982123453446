"""Concatenates two matrices along their columns; broken: an off-by-one at the seam, where column N1 still comes from the first one."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def cat2_kernel(a_ptr, b_ptr, out_ptr, N1, N2, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = N1 + N2
    from_a = cols <= N1
    from_b = (cols > N1) & (cols < total)
    a = tl.load(a_ptr + row * N1 + cols, mask=from_a, other=0.0)
    b = tl.load(b_ptr + row * N2 + (cols - N1), mask=from_b, other=0.0)
    tl.store(out_ptr + row * total + cols, tl.where(from_a, a, b), mask=cols < total)


def cat2(a, b):
    M, N1 = a.shape
    N2 = b.shape[1]
    out = torch.empty(M, N1 + N2)
    cat2_kernel[(M, triton.cdiv(N1 + N2, 64))](a, b, out, N1, N2, BLOCK=64)
    return out


def launch(M=4, N1=30, N2=50):
    a = torch.randn(M, N1)
    b = torch.randn(M, N2)
    return cat2(a, b)


def reference(a, b):
    return torch.cat([a, b], dim=-1)
