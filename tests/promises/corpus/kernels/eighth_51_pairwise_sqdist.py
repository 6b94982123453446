# |x|^2 + |y|^2 - 2 x.y, as k-means and nearest neighbours write it.
import torch
import triton
import triton.language as tl


@triton.jit
def sqdist_kernel(x_ptr, y_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    dot = tl.zeros([BM, BN], dtype=tl.float32)
    xx = tl.zeros([BM], dtype=tl.float32)
    yy = tl.zeros([BN], dtype=tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(y_ptr + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0.0)
        dot += tl.dot(x, tl.trans(y), input_precision="ieee")
        xx += tl.sum(x * x, axis=1)
        yy += tl.sum(y * y, axis=1)
    dist = xx[:, None] + yy[None, :] - 2.0 * dot
    tl.store(out_ptr + m[:, None] * N + n[None, :], dist, mask=(m[:, None] < M) & (n[None, :] < N))


def launch(M=20, N=18, K=40):
    x = torch.randn(M, K, device="cuda")
    y = torch.randn(N, K, device="cuda")
    out = torch.empty(M, N, device="cuda")
    sqdist_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, y, out, M, N, K, BM=16, BN=16, BK=16)
    return out


def reference(x, y):
    return (x[:, None, :] - y[None, :, :]).square().sum(dim=-1)


TRUTH = "verified"
