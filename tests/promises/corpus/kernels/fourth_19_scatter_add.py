"""Adds rows of src to the rows of out that index names; broken: by load, add and store without atomics, and an index may come twice."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def scatter_add_rows_kernel(src_ptr, index_ptr, out_ptr, N, D, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    rn = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rd = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = (rn < N)[:, None] & (rd < D)[None, :]
    idx = tl.load(index_ptr + rn, mask=rn < N, other=0)
    src = tl.load(src_ptr + rn[:, None] * D + rd[None, :], mask=mask, other=0.0)
    target = out_ptr + idx[:, None] * D + rd[None, :]
    old = tl.load(target, mask=mask, other=0.0)
    tl.store(target, old + src, mask=mask)


def launch(N=40, D=24, R=10):
    src = torch.randn(N, D)
    index = torch.randint(0, R, (N,))
    out = torch.zeros(R, D)
    scatter_add_rows_kernel[(triton.cdiv(N, 8), triton.cdiv(D, 16))](src, index, out, N, D, BLOCK_N=8, BLOCK_D=16)
    return out


def reference(src, index, out):
    return out.index_add(0, index, src)
