"""Matrix product for few rows: K is split over programs, which add up their parts by atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def splitk_kernel(
    x_ptr, w_ptr, y_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_k = tl.program_id(1)
    grid_n = tl.cdiv(N, BLOCK_N)
    rm = (pid // grid_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = (pid % grid_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = pid_k * BLOCK_K + tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K * SPLIT_K)):
        kk = rk + k * BLOCK_K * SPLIT_K
        x = tl.load(x_ptr + rm[:, None] * K + kk[None, :], mask=(rm[:, None] < M) & (kk[None, :] < K), other=0.0)
        w = tl.load(w_ptr + rn[None, :] * K + kk[:, None], mask=(rn[None, :] < N) & (kk[:, None] < K), other=0.0)
        acc = tl.dot(x, w, acc)
    tl.atomic_add(y_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def launch(M=5, N=40, K=150):
    x = torch.randn(M, K, device="cuda")
    weight = torch.randn(N, K, device="cuda")           # as nn.Linear holds it
    y = torch.zeros(M, N, device="cuda")
    SPLIT_K = 4
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 16), SPLIT_K)
    splitk_kernel[grid](x, weight, y, M, N, K, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, SPLIT_K=SPLIT_K)
    return y


def reference(x, weight):
    return torch.nn.functional.linear(x, weight)


TRUTH = "verified"
