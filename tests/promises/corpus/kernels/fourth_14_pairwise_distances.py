"""Squared Euclidean distances of all pairs of rows by |x|² + |y|² − 2·x·y in tiles, held at 0 from below; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def pairwise_sq_dist_kernel(x_ptr, y_ptr, out_ptr, N, M, D, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr):
    rn = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rm = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    dots = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    xx = tl.zeros((BLOCK_N,), dtype=tl.float32)
    yy = tl.zeros((BLOCK_M,), dtype=tl.float32)
    for d in range(0, D, BLOCK_D):
        rd = d + tl.arange(0, BLOCK_D)
        x = tl.load(x_ptr + rn[:, None] * D + rd[None, :], mask=(rn[:, None] < N) & (rd[None, :] < D), other=0.0)
        y = tl.load(y_ptr + rm[:, None] * D + rd[None, :], mask=(rm[:, None] < M) & (rd[None, :] < D), other=0.0)
        dots += tl.dot(x, tl.trans(y), input_precision="ieee")
        xx += tl.sum(x * x, axis=1)
        yy += tl.sum(y * y, axis=1)
    dist = tl.maximum(xx[:, None] + yy[None, :] - 2.0 * dots, 0.0)
    tl.store(out_ptr + rn[:, None] * M + rm[None, :], dist, mask=(rn[:, None] < N) & (rm[None, :] < M))


def launch(N=25, M=35, D=40):
    x = torch.randn(N, D)
    y = torch.randn(M, D)
    out = torch.empty(N, M)
    pairwise_sq_dist_kernel[(triton.cdiv(N, 16), triton.cdiv(M, 32))](x, y, out, N, M, D, BLOCK_N=16, BLOCK_M=32, BLOCK_D=16)
    return out


def reference(x, y):
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(-1)
