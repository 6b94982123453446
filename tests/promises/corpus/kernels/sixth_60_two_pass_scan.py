import torch
import triton
import triton.language as tl


@triton.jit
def block_sums(x, sums, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(sums + pid, tl.sum(v, axis=0))


@triton.jit
def scan_with_carry(x, sums, y, n, nb, BLOCK: tl.constexpr, MAX_BLOCKS: tl.constexpr):
    pid = tl.program_id(0)
    j = tl.arange(0, MAX_BLOCKS)
    before = tl.load(sums + j, mask=(j <= pid) & (j < nb), other=0.0)
    carry = tl.sum(before, axis=0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, tl.cumsum(v, axis=0) + carry, mask=i < n)


def device_scan(x):
    n = x.numel()
    nb = triton.cdiv(n, 32)
    assert nb <= 64
    sums = torch.empty(nb)
    y = torch.empty_like(x)
    block_sums[(nb,)](x, sums, n, BLOCK=32)
    scan_with_carry[(nb,)](x, sums, y, n, nb, BLOCK=32, MAX_BLOCKS=64)
    return y


def launch(n=140):
    x = torch.randn(n)
    return device_scan(x)


def reference(x):
    return torch.cumsum(x, 0)


TRUTH = "broken"
