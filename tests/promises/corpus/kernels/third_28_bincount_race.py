import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def count_kernel(ids, counts, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    e = tl.load(ids + offs, mask=mask, other=0)
    c = tl.load(counts + e, mask=mask, other=0)
    tl.store(counts + e, c + 1, mask=mask)


def launch(ids, counts):
    counts.zero_()
    count_kernel[(triton.cdiv(ids.numel(), 32),)](ids, counts, ids.numel(), BLOCK=32)
    return counts


def reference(ids, counts):
    out = torch.zeros_like(counts)
    return out.index_add(0, ids, torch.ones_like(ids, dtype=counts.dtype))


def inputs(n=100, experts=8):
    return torch.randint(0, experts, (n,)), torch.zeros(experts, dtype=torch.int32)
