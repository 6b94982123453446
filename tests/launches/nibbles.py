"""A row times weights of four bits, two of which lie in a byte, byte by byte in tiles."""

import torch
import triton
import triton.language as tl


@triton.jit
def times_nibbles(x, packed, out, N, BYTES, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    acc = 0.0
    for start in range(0, BYTES, BLOCK):
        b = start + tl.arange(0, BLOCK)
        byte = tl.load(packed + n * BYTES + b, mask=b < BYTES, other=0).to(tl.int32)
        low = tl.load(x + 2 * b, mask=b < BYTES, other=0.0)
        high = tl.load(x + 2 * b + 1, mask=b < BYTES, other=0.0)
        acc += tl.sum(((byte & 15) - 8).to(tl.float32) * low, axis=0)
        acc += tl.sum(((byte >> 4) - 8).to(tl.float32) * high, axis=0)
    tl.store(out + n, acc)


def launch(N=6, BYTES=20):
    x, out = torch.randn(2 * BYTES), torch.empty(N)
    packed = torch.randint(0, 256, (N, BYTES), dtype=torch.uint8)
    times_nibbles[(N,)](x, packed, out, N, BYTES, BLOCK=16)
    return out


def reference(x, packed):
    codes = (packed.to(torch.int32).unsqueeze(-1) >> torch.arange(0, 8, 4)) & 15
    return (codes - 8).reshape(packed.shape[0], -1).to(torch.float32) @ x


def turned(x, packed):
    codes = (packed.to(torch.int32).unsqueeze(-1) >> torch.arange(4, -1, -4)) & 15
    return (codes - 8).reshape(packed.shape[0], -1).to(torch.float32) @ x
