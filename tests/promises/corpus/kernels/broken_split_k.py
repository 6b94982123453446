"""Split-K matmul with atomic sums."""

import torch
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "the last column is masked out"


@triton.jit
def split_k_kernel(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    pid = tl.program_id(0)
    z = tl.program_id(1)
    grid_n = tl.cdiv(N, BN)
    pm = pid // grid_n
    pn = pid % grid_n
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = z * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK * SPLIT)):
        kk = rk + k * BK * SPLIT
        a = tl.load(a_ptr + rm[:, None] * sam + kk[None, :] * sak,
                    mask=(rm[:, None] < M) & (kk[None, :] < K - 1), other=0.0)
        b = tl.load(b_ptr + kk[:, None] * sbk + rn[None, :] * sbn,
                    mask=(kk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    tl.atomic_add(c_ptr + rm[:, None] * scm + rn[None, :] * scn, acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def launch(M=40, N=33, K=150):
    a = torch.randn(M, K, device="cuda")
    b = torch.randn(K, N, device="cuda")
    c = torch.zeros(M, N, device="cuda")
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 16), 3)
    split_k_kernel[grid](a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
                         BM=16, BN=16, BK=16, SPLIT=3)
    return c


def reference(a, b):
    return a @ b
