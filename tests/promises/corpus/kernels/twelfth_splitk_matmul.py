"""Split-K: each program along axis 1 takes every SPLIT_K-th block of K and adds its part atomically to an output of zeros."""
import torch
import triton
import triton.language as tl


@triton.jit
def splitk_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT_K: tl.constexpr,
):
    pid = tl.program_id(0)
    pid_k = tl.program_id(1)
    num_n = tl.cdiv(N, BN)
    rm = (pid // num_n) * BM + tl.arange(0, BM)
    rn = (pid % num_n) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(pid_k * BK, K, BK * SPLIT_K):
        rk = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    tl.atomic_add(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def launch(m=20, n=37, k=150):
    a = torch.randn(m, k, device="cuda")
    b = torch.randn(k, n, device="cuda")
    c = torch.zeros(m, n, device="cuda")
    grid = (triton.cdiv(m, 16) * triton.cdiv(n, 16), 4)
    splitk_kernel[grid](a, b, c, m, n, k, BM=16, BN=16, BK=16, SPLIT_K=4)
    return c


def reference(a, b):
    return a @ b


TRUTH = "verified"
