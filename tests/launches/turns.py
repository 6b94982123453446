"""Persistent kernels, whose programs take tiles in turns and in groups of rows, and near misses."""

import torch
import triton
import triton.language as tl


@triton.jit
def place(tile, grid_m, grid_n, GROUP: tl.constexpr, WIDE: tl.constexpr, INNER: tl.constexpr):
    group = tile // (WIDE * grid_n)
    rows = min(grid_m - group * GROUP, GROUP)
    inside = tile % (WIDE * grid_n)
    return group * GROUP + (inside if INNER else tile) % rows, inside // rows


@triton.jit
def doubled_kernel(x, out, M, N, STEP: tl.constexpr, GROUP: tl.constexpr, WIDE: tl.constexpr, INNER: tl.constexpr,
                   B: tl.constexpr):
    grid_m, grid_n = tl.cdiv(M, B), tl.cdiv(N, B)
    for tile in range(tl.program_id(0), grid_m * grid_n, STEP):
        i, j = place(tile, grid_m, grid_n, GROUP, WIDE, INNER)
        r, c = i * B + tl.arange(0, B), j * B + tl.arange(0, B)
        at = r[:, None] * N + c[None, :]
        keep = (r[:, None] < M) & (c[None, :] < N)
        tl.store(out + at, 2 * tl.load(x + at, mask=keep), mask=keep)


def run(x, programs=4, step=4, group=2, wide=2, inner=False):
    M, N = x.shape
    out = torch.empty_like(x)
    doubled_kernel[(programs,)](x, out, M, N, STEP=step, GROUP=group, WIDE=wide, INNER=inner, B=16)
    return out


def launch_turned(M=70, N=50):
    x = torch.randn(M, N, device="cuda")
    return run(x)


def launch_inner(M=70, N=50):
    x = torch.randn(M, N, device="cuda")
    return run(x, inner=True)


def launch_as_many_as_tiles(M=70, N=50):
    x = torch.randn(M, N, device="cuda")
    tiles = triton.cdiv(M, 16) * triton.cdiv(N, 16)
    return run(x, programs=min(40, tiles), step=40)


def launch_too_few_programs(M=70, N=50):
    x = torch.randn(M, N, device="cuda")
    return run(x, programs=3)


def launch_too_many_programs(M=70, N=50):
    x = torch.randn(M, N, device="cuda")
    return run(x, programs=5)


def launch_wide_groups(M=70, N=50):
    x = torch.randn(M, N, device="cuda")
    return run(x, wide=3)
