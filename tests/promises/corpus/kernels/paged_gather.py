"""Rows of a paged cache put together for each sequence, as vLLM's gather does."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def gather_kernel(cache_ptr, table_ptr, lens_ptr, out_ptr, max_len, max_blocks, D, PAGE: tl.constexpr, BLOCK_D: tl.constexpr):
    b = tl.program_id(0)
    t = tl.program_id(1)
    d = tl.arange(0, BLOCK_D)
    length = tl.load(lens_ptr + b)
    inside = t < length
    block = tl.load(table_ptr + b * max_blocks + t // PAGE, mask=inside, other=0)
    src = cache_ptr + block.to(tl.int64) * PAGE * D + (t % PAGE) * D + d
    v = tl.load(src, mask=(d < D) & inside, other=0.0)
    tl.store(out_ptr + (b * max_len + t) * D + d, v, mask=d < D)


def launch(B=3, pages=10, D=24):
    PAGE = 4
    max_blocks = 3
    cache = torch.randn(pages, PAGE, D, device="cuda")
    table = torch.randint(0, pages, (B, max_blocks), dtype=torch.int32, device="cuda")
    lens = torch.tensor([12, 5, 7], dtype=torch.int32, device="cuda")
    max_len = max_blocks * PAGE
    out = torch.empty(B, max_len, D, device="cuda")
    gather_kernel[(B, max_len)](cache, table, lens, out, max_len, max_blocks, D, PAGE=PAGE, BLOCK_D=32)
    return out


def reference(cache, table, lens):
    B, max_blocks = table.shape
    rows = cache[table.long()].reshape(B, max_blocks * cache.shape[1], cache.shape[2])
    t = torch.arange(rows.shape[1], device=rows.device)
    return torch.where((t[None, :] < lens[:, None])[:, :, None], rows, 0.0)
