"""Upper triangle of each matrix of a batch; tiles that lie below the diagonal return at once."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def triu_batch_kernel(X, Y, M, N, diagonal, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    batch = tl.program_id(0)
    row_start = tl.program_id(1) * BLOCK_M
    col_start = tl.program_id(2) * BLOCK_N
    if col_start + BLOCK_N <= row_start + diagonal:
        return
    rows = row_start + tl.arange(0, BLOCK_M)[:, None]
    cols = col_start + tl.arange(0, BLOCK_N)[None, :]
    mask = (rows < M) & (cols < N)
    offs = batch * M * N + rows * N + cols
    x = tl.load(X + offs, mask=mask, other=0.0)
    y = tl.where(rows + diagonal <= cols, x, 0.0)
    tl.store(Y + offs, y, mask=mask)


def launch():
    batch, M, N = 3, 50, 70
    x = torch.randn(batch, M, N)
    y = torch.empty_like(x)
    grid = (batch, triton.cdiv(M, 16), triton.cdiv(N, 16))
    triu_batch_kernel[grid](x, y, M, N, 1, BLOCK_M=16, BLOCK_N=16)
    return y


def reference(x):
    return torch.triu(x, 1)
