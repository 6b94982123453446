"""Sparse matrix times vector in the ELL format, slots stored column by column and -1 where a row has no more."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def spmv_ell_kernel(val_ptr, col_ptr, x_ptr, y_ptr, rows, width, alpha, beta, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    in_rows = row < rows
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for slot in range(width):
        col = tl.load(col_ptr + slot * rows + row, mask=in_rows, other=-1)
        used = col >= 0
        val = tl.load(val_ptr + slot * rows + row, mask=used, other=0.0)
        acc += val * tl.load(x_ptr + col, mask=used, other=0.0)
    old = tl.load(y_ptr + row, mask=in_rows, other=0.0)
    tl.store(y_ptr + row, alpha * acc + beta * old, mask=in_rows)


def launch():
    rows, cols, width = 210, 170, 9
    val = torch.randn(width, rows)
    filled = torch.randint(0, cols, (width, rows), dtype=torch.int32)
    col = torch.where(torch.rand(width, rows) < 0.3, -1, filled)
    x = torch.randn(cols)
    y = torch.randn(rows)
    spmv_ell_kernel[(triton.cdiv(rows, 64),)](val, col, x, y, rows, width, 1.5, -0.5, BLOCK=64)
    return y


def reference(val, col, x, y):
    picked = x[col.clamp(min=0).long()]
    return 1.5 * torch.where(col >= 0, val * picked, 0.0).sum(0) - 0.5 * y
