import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def transpose_tile(src, dst, M, N, s0, s1, d0, d1, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    tile = tl.load(src + rm[:, None] * s0 + rn[None, :] * s1, mask=(rm[:, None] < M) & (rn[None, :] < N))
    tl.store(dst + rn[:, None] * d0 + rm[None, :] * d1, tl.trans(tile), mask=(rn[:, None] < N) & (rm[None, :] < M))


def transpose(x):
    M, N = x.shape
    y = x.new_empty((N, M))
    transpose_tile[(triton.cdiv(M, 16), triton.cdiv(N, 32))](
        x, y, M, N, x.stride(0), x.stride(1), y.stride(0), y.stride(1), BM=16, BN=32)
    return y


def reference(x):
    return x.t().contiguous()


def launch():
    x = torch.randn(37, 53)
    return transpose(x)


def inputs(M=37, N=53):
    return (torch.randn(M, N),)
