"""Grouped matmul: rows sorted by expert, tiles found through a table the host makes."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def grouped_kernel(x_ptr, w_ptr, expert_ptr, o_ptr, T, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    e = tl.load(expert_ptr + pm)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        rk = k * BK + tl.arange(0, BK)
        x = tl.load(x_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < T) & (rk[None, :] < K), other=0.0)
        w = tl.load(w_ptr + e * K * N + rk[:, None] * N + rn[None, :],
                    mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, w)
    tl.store(o_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < T) & (rn[None, :] < N))


def launch(K=40, N=24):
    experts = torch.tensor([0, 0, 2, 1, 3], dtype=torch.int32, device="cuda")
    T = experts.shape[0] * 16
    x = torch.randn(T, K, device="cuda")
    w = torch.randn(4, K, N, device="cuda")
    out = torch.empty(T, N, device="cuda")
    grouped_kernel[(experts.shape[0], triton.cdiv(N, 16))](x, w, experts, out, T, K, N, BM=16, BN=16, BK=16)
    return out


def reference(x, w, experts):
    tiles = x.reshape(experts.shape[0], 16, x.shape[1])
    return torch.bmm(tiles, w[experts.long()]).reshape(x.shape[0], w.shape[2])
