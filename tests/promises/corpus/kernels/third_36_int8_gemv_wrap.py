"""A token against an int8 weight: products summed in integers, scaled by row and by token afterwards."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def gemv_w8a8(w_ptr, x_ptr, w_scale, x_scale, y_ptr, N, K, stride_wn, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_N,), dtype=tl.int32)
    for k0 in range(0, K, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        w = tl.load(w_ptr + n[:, None] * stride_wn + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0)
        x = tl.load(x_ptr + k, mask=k < K, other=0)
        prod = w * x[None, :]
        acc += tl.sum(prod.to(tl.int32), axis=1)
    s = tl.load(w_scale + n, mask=n < N, other=0.0) * tl.load(x_scale)
    tl.store(y_ptr + n, acc.to(tl.float32) * s, mask=n < N)


def launch(w, x, w_scale, x_scale):
    N, K = w.shape
    y = torch.empty(N, dtype=torch.float32, device=x.device)
    gemv_w8a8[(triton.cdiv(N, 16),)](w, x, w_scale, x_scale, y, N, K, w.stride(0), BLOCK_N=16, BLOCK_K=64)
    return y


def reference(w, x, w_scale, x_scale):
    acc = (w.int() * x.int()).sum(dim=1)
    return acc.float() * w_scale * x_scale


def inputs(N=40, K=150):
    return (torch.randint(-128, 128, (N, K), dtype=torch.int8), torch.randint(-128, 128, (K,), dtype=torch.int8),
            torch.rand(N) * 0.01, torch.rand(1) * 0.01)
