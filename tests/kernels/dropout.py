"""Dropout: an element is kept where its random number, drawn from the seed and its position, exceeds p."""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    kept = tl.rand(seed, offsets) > p
    tl.store(out_ptr + offsets, tl.where(kept, x / (1 - p), 0.0), mask=offsets < n)


def launch(n=300):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    dropout_kernel[(triton.cdiv(n, 64),)](x, out, n, 0.3, torch.iinfo(torch.int32).max // 5, BLOCK=64)
    return out


def philox(seed, offsets, rounds=10):
    """The first word of Philox 4x32 (Salmon et al., 2011) for the counters (offset, 0, 0, 0) and the key (seed, 0)."""
    word = (1 << 32) - 1
    counter = [offsets, *(torch.zeros_like(offsets) for _ in range(3))]
    key = [seed & word, seed >> 32]
    for _ in range(rounds):
        a, b, c, d = counter
        low = [(part * factor) & word for part, factor in ((a, 0xD2511F53), (c, 0xCD9E8D57))]
        high = [upper(part, factor) for part, factor in ((a, 0xD2511F53), (c, 0xCD9E8D57))]
        counter = [high[1] ^ b ^ key[0], low[1], high[0] ^ d ^ key[1], low[0]]
        key = [(key[0] + 0x9E3779B9) & word, (key[1] + 0xBB67AE85) & word]
    return counter[0]


def upper(a, b):
    """The upper 32 of the 64 bits of a product of unsigned 32-bit integers."""
    half = (1 << 16) - 1
    low = (a & half) * (b & half)
    middle = (a >> 16) * (b & half) + (low >> 16)
    other = (a & half) * (b >> 16) + (middle & half)
    return (a >> 16) * (b >> 16) + (middle >> 16) + (other >> 16)


def reference(x):
    random = philox(torch.iinfo(torch.int32).max // 5, torch.arange(len(x)))
    signed = torch.where(random >= 1 << 31, random - (1 << 32), random)
    uniform = torch.where(signed < 0, -signed - 1, signed).double() * 4.6566127342e-10
    return torch.where(uniform > 0.3, x / (1 - 0.3), 0.0)


BROKEN = {
    "mask_le": ("/ (1 - p), 0.0), mask=offsets < n", "/ (1 - p), 0.0), mask=offsets <= n", "bounds", "fault"),
    "not_scaled": ("x / (1 - p)", "x", "value", "value"),
    "same_numbers_in_each_block": ("tl.rand(seed, offsets)", "tl.rand(seed, tl.arange(0, BLOCK))", "value", "value"),
    "missing_block": ("triton.cdiv(n, 64)", "n // 64", "coverage", "value"),
}
