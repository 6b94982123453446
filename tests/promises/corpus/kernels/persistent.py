"""Persistent matmul with a grouped (swizzled) order of tiles, as Triton's tutorial 9 writes it."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def tile_of(tile, num_in_group, grid_m, GROUP: tl.constexpr):
    group = tile // num_in_group
    first_m = group * GROUP
    size_m = min(grid_m - first_m, GROUP)
    pm = first_m + (tile % size_m)
    pn = (tile % num_in_group) // size_m
    return pm, pn


@triton.jit
def persistent_kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
                      BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, SMS: tl.constexpr):
    start = tl.program_id(0)
    grid_m = tl.cdiv(M, BM)
    grid_n = tl.cdiv(N, BN)
    tiles = grid_m * grid_n
    for tile in range(start, tiles, SMS):
        pm, pn = tile_of(tile, GROUP * grid_n, grid_m, GROUP)
        rm = pm * BM + tl.arange(0, BM)
        rn = pn * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            rk = k * BK + tl.arange(0, BK)
            a = tl.load(a_ptr + rm[:, None] * sam + rk[None, :] * sak,
                        mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
            b = tl.load(b_ptr + rk[:, None] * sbk + rn[None, :] * sbn,
                        mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + rm[:, None] * scm + rn[None, :] * scn, acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def launch(M=70, N=50, K=40):
    a = torch.randn(M, K, device="cuda")
    b = torch.randn(K, N, device="cuda")
    c = torch.empty(M, N, device="cuda")
    persistent_kernel[(4,)](a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
                            BM=16, BN=16, BK=16, GROUP=2, SMS=4)
    return c


def reference(a, b):
    return a @ b
