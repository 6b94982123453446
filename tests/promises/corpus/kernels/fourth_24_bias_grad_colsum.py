"""Sum over the rows (a bias gradient), programs adding their parts by atomics; broken: out is torch.empty, so the accumulator is never initialised."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def bias_grad_kernel(dy_ptr, db_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    dy = tl.load(dy_ptr + rm[:, None] * N + rn[None, :], mask=mask, other=0.0)
    tl.atomic_add(db_ptr + rn, tl.sum(dy, axis=0), mask=rn < N)


def bias_grad(dy):
    M, N = dy.shape
    db = torch.empty(N)
    bias_grad_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](dy, db, M, N, BLOCK_M=16, BLOCK_N=32)
    return db


def launch(M=50, N=70):
    dy = torch.randn(M, N)
    return bias_grad(dy)


def reference(dy):
    return dy.sum(0)
