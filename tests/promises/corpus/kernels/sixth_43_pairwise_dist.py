import torch
import triton
import triton.language as tl


@triton.jit
def rbf_kernel_matrix(X, Y, OUT, n, m, d, inv_two_sigma_sq, BLOCK_N: tl.constexpr, BLOCK_M: tl.constexpr):
    """OUT[i, j] = exp(-|x_i - y_j|^2 / (2 sigma^2))"""
    i = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    j = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    acc = tl.zeros((BLOCK_N, BLOCK_M), tl.float32)
    for k in range(d):
        xk = tl.load(X + i * d + k, mask=i < n, other=0.0)
        yk = tl.load(Y + j * d + k, mask=j < m, other=0.0)
        diff = xk[:, None] - yk[None, :]
        acc += diff * diff
    tl.store(OUT + i[:, None] * m + j[None, :], tl.exp(-acc * inv_two_sigma_sq), mask=(i[:, None] < n) & (j[None, :] < m))


def launch(n=23, m=35, d=6):
    points = torch.randn(n, d)
    centers = torch.randn(m, d)
    gram = torch.empty(n, m)
    rbf_kernel_matrix[(triton.cdiv(n, 16), triton.cdiv(m, 32))](points, centers, gram, n, m, d, 0.125, BLOCK_N=16, BLOCK_M=32)
    return gram


def reference(points, centers):
    xx = points.square().sum(1)[:, None]
    yy = centers.square().sum(1)[None, :]
    return torch.exp(-(xx + yy - 2 * points @ centers.T) / 8)


TRUTH = "verified"
