"""Rows are written to their slots of a cache. That no two rows have one slot, the kernel cannot know:

    samesame lift cache.py:launch --assume "distinct(slots)" --assume "N % 2 == 0 and K == 2 * N"
"""

import torch
import triton
import triton.language as tl


@triton.jit
def write_kernel(rows_ptr, slots_ptr, cache_ptr, N, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    slot = tl.load(slots_ptr + row)
    value = tl.load(rows_ptr + row * K + cols, mask=cols < K)
    tl.store(cache_ptr + slot * K + cols, value, mask=cols < K)


def launch(N=6, K=12, slots_of_cache=20):
    rows = torch.randn(N, K, device="cuda")
    slots = torch.randperm(slots_of_cache, device="cuda")[:N]
    cache = torch.zeros(slots_of_cache, K, device="cuda")
    write_kernel[(N,)](rows, slots, cache, N, K, BLOCK=triton.next_power_of_2(K))
    return cache
