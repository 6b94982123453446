import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def index_select_rows(out, src, index, n_cols, src_stride, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.load(index + r)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(src + i * src_stride + c, mask=c < n_cols)
    tl.store(out + r * n_cols + c, row, mask=c < n_cols)


def index_select(src, index):
    n = index.shape[0]
    out = src.new_empty((n, src.shape[1]))
    index_select_rows[(n, triton.cdiv(src.shape[1], 32))](out, src, index, src.shape[1], src.stride(0), BLOCK=32)
    return out


def reference(src, index):
    return torch.index_select(src, 0, index)


def launch():
    src, index = inputs()
    return index_select(src, index)


def inputs(rows=15, cols=50, picked=8):
    return torch.randn(rows, cols), torch.randint(0, rows, (picked,))
