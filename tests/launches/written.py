"""Short lengths that a launch function writes as numbers, beside sizes that are its parameters."""

import torch
import triton
import triton.language as tl


@triton.jit
def window_kernel(x, w, y, n, LESS: tl.constexpr, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for k in tl.static_range(3):
        v = tl.load(x + channel * n + at + k, mask=at + k < n, other=0.0)
        total += v * tl.load(w + channel * 3 + k)
    tl.store(y + channel * (n - 2) + at, total, mask=at < n - 2 - LESS)


def run_window(x, w, less):
    C, n = x.shape
    y = torch.empty(C, n - 2, device="cuda")
    window_kernel[(C, triton.cdiv(n - 2, 32))](x, w, y, n, LESS=less, BLOCK=32)
    return y


def launch_window(C=3, n=80):
    x = torch.randn(C, n, device="cuda")
    w = torch.randn(C, 3, device="cuda")
    return run_window(x, w, 0)


def launch_window_left_out(C=3, n=80):
    x = torch.randn(C, n, device="cuda")
    w = torch.randn(C, 3, device="cuda")
    return run_window(x, w, 1)


def launch_window_of_four(C=3, n=80):
    x = torch.randn(C, n, device="cuda")
    w = torch.randn(C, 4, device="cuda")
    return run_window(x, w, 0)


def launch_window_without_sizes():
    x = torch.randn(5, 80, device="cuda")
    w = torch.randn(5, 3, device="cuda")
    return run_window(x, w, 0)


def window(x, w):
    return (x.unfold(1, 3, 1) * w[:, None, :3]).sum(2)


def window_turned(x, w):
    return (x.unfold(1, 3, 1) * w.flip(1)[:, None, :3]).sum(2)


@triton.jit
def pairs_kernel(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * N + at, mask=at < N, other=-float("inf"))
    tl.store(out + row * 2, tl.max(v))
    tl.store(out + row * 2 + 1, tl.sum(tl.where(at < N, v, 0.0)))


def launch_pairs(M=2, N=3):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, 2, device="cuda")
    pairs_kernel[(M,)](x, out, N, BLOCK=16)
    return out


def pairs(x):
    return torch.stack([x.amax(1), x.sum(1)], 1)


@triton.jit
def packed_kernel(packed, out, total, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(packed + at // 2, mask=at < total, other=0).to(tl.int32)
    tl.store(out + at, tl.where(at % 2 == 0, byte & 15, byte >> 4), mask=at < total)


def launch_packed(rows=5):
    """Sixteen bytes of each row hold thirty-two numbers."""
    packed = torch.randint(0, 256, (rows, 16), dtype=torch.uint8, device="cuda")
    out = torch.empty(rows, 32, dtype=torch.int32, device="cuda")
    packed_kernel[(triton.cdiv(32 * rows, 64),)](packed, out, 32 * rows, BLOCK=64)
    return out


def packed(packed):
    wide = packed.int()
    return torch.stack([wide & 15, wide >> 4], 2).flatten(1)
