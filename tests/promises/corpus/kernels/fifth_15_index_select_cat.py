"""Rows selected from two sources by index, flattened into one output, one launch for each source."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def index_select_cat_kernel(out_ptr, src_ptr, index_ptr, num_indices, num_cols, stride0, stride1, BLOCK_I: tl.constexpr, BLOCK_C: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_I + tl.arange(0, BLOCK_I)
    cols = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    picked = tl.load(index_ptr + rows, mask=rows < num_indices, other=0)
    mask = (rows[:, None] < num_indices) & (cols[None, :] < num_cols)
    x = tl.load(src_ptr + picked[:, None] * stride0 + cols[None, :] * stride1, mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * num_cols + cols[None, :], x, mask=mask)


def launch():
    src_a = torch.randn(40, 72)
    src_b = torch.randn(25, 110)
    index_a = torch.randint(0, 40, (18,))
    index_b = torch.randint(0, 25, (9,))
    size_a = index_a.numel() * src_a.shape[1]
    size_b = index_b.numel() * src_b.shape[1]
    out = torch.empty(size_a + size_b)
    start = 0
    for src, index in ((src_a, index_a), (src_b, index_b)):
        n, c = index.shape[0], src.shape[1]
        grid = (triton.cdiv(n, 4), triton.cdiv(c, 64))
        index_select_cat_kernel[grid](out[start : start + n * c], src, index, n, c, src.stride(0), src.stride(1), BLOCK_I=4, BLOCK_C=64)
        start += n * c
    return out


def reference(src_a, src_b, index_a, index_b):
    return torch.cat([src_a[index_a].flatten(), src_b[index_b].flatten()])
