"""Kernels that are right where one size divides another, or halves of a row are alike, and near misses."""

import torch
import triton
import triton.language as tl


@triton.jit
def groups_kernel(x, y, largest, N, BLOCK: tl.constexpr):
    row, g = tl.program_id(0), tl.program_id(1)
    i = g * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * N + i)
    m = tl.max(v, axis=0)
    tl.store(y + row * N + i, v - m)
    tl.store(largest + row * (N // BLOCK) + g, m)


def run_groups(x, per):
    M, N = x.shape
    y = torch.empty_like(x)
    largest = torch.empty(M, N // 16, device="cuda")
    groups_kernel[(M, N // per)](x, y, largest, N, BLOCK=16)
    return y, largest


def launch_groups(M=3, N=96):
    return run_groups(torch.randn(M, N, device="cuda"), 16)


def launch_groups_left_over(M=3, N=100):
    return run_groups(torch.randn(M, N, device="cuda"), 16)


def launch_every_other_group(M=3, N=96):
    return run_groups(torch.randn(M, N, device="cuda"), 32)


def groups(x):
    blocks = x.reshape(x.shape[0], -1, 16)
    largest = blocks.amax(-1)
    return (blocks - largest[..., None]).reshape(x.shape), largest


@triton.jit
def halves_kernel(x, y, D, UP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    half = D // 2
    left = tl.load(x + row * D + i, mask=i < half, other=0.0)
    right = tl.load(x + row * D + half + i, mask=i < half, other=0.0)
    tl.store(y + row * half + i, left * tl.sigmoid(right if UP else left) * right, mask=i < half)


def run_halves(x, up):
    M, D = x.shape
    y = torch.empty(M, D // 2, device="cuda")
    halves_kernel[(M, triton.cdiv(D // 2, 32))](x, y, D, UP=up, BLOCK=32)
    return y


def launch_halves(M=5, D=84):
    x = torch.randn(M, D, device="cuda")
    return run_halves(x, False)


def launch_halves_turned(M=5, D=84):
    x = torch.randn(M, D, device="cuda")
    return run_halves(x, True)


def halves(x):
    gate, up = x.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


@triton.jit
def scaled_kernel(x, scale, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    tl.store(out + row * BLOCK + i, tl.load(x + row * BLOCK + i) * tl.load(scale + row))


def launch_unnamed():
    x, scale = torch.randn(6, 16, device="cuda"), torch.randn(6, device="cuda")
    out = torch.empty_like(x)
    scaled_kernel[(x.shape[0],)](x, scale, out, BLOCK=16)
    return out


@triton.jit
def heads_kernel(q, k, out, H, KV, D, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    b, h = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, BLOCK)
    shared = (h + SHIFT) // (H // KV)
    key = tl.load(k + (b * KV + shared) * D + d, mask=d < D, other=0.0)
    tl.store(out + (b * H + h) * D + d, tl.load(q + (b * H + h) * D + d, mask=d < D, other=0.0) * key, mask=d < D)


def run_heads(q, k, shift):
    (B, H, D), KV = q.shape, k.shape[1]
    out = torch.empty_like(q)
    heads_kernel[(B, H)](q, k, out, H, KV, D, SHIFT=shift, BLOCK=32)
    return out


def launch_heads(B=2, H=12, KV=3, D=20):
    q, k = torch.randn(B, H, D, device="cuda"), torch.randn(B, KV, D, device="cuda")
    return run_heads(q, k, 0)


def launch_heads_of_the_next(B=2, H=12, KV=3, D=20):
    q, k = torch.randn(B, H, D, device="cuda"), torch.randn(B, KV, D, device="cuda")
    return run_heads(q, k, 1)


def heads(q, k):
    return q * k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)


@triton.jit
def doubled_kernel(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at))


def launch_doubled(n=128):
    x = torch.randn(n, device="cuda")
    y = torch.empty_like(x)
    doubled_kernel[(n // 32,)](x, y, BLOCK=32)
    return y


def launch_doubled_in_tiles(n=128):
    x = torch.randn(n, device="cuda")
    assert n % 32 == 0
    y = torch.empty_like(x)
    doubled_kernel[(n // 32,)](x, y, BLOCK=32)
    return y
