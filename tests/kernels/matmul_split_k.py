"""Matrix product with the inner size split over programs too: each adds its part to the output atomically."""

import torch
import triton
import triton.language as tl


@triton.jit
def split_k_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(2)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K * SPLIT)):
        ks = (k * SPLIT + part) * BLOCK_K + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :],
                    mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :],
                    mask=(ks[:, None] < K) & (cols[None, :] < N), other=0.0)
        total += tl.dot(a, b)
    inside = (rows[:, None] < M) & (cols[None, :] < N)
    tl.atomic_add(c_ptr + rows[:, None] * N + cols[None, :], total, mask=inside)


def launch(M=20, N=35, K=90):
    a = torch.randn(M, K, device="cuda")
    b = torch.randn(K, N, device="cuda")
    c = torch.zeros(M, N, device="cuda")
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 16), 2)
    split_k_kernel[grid](a, b, c, M, N, K, BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, SPLIT=2)
    return c


def reference(a, b):
    return a @ b


BROKEN = {
    "not_initialised": ("torch.zeros(M, N", "torch.empty(M, N", "undefined", "value"),
    "stored": ("tl.atomic_add(c_ptr + rows[:, None] * N + cols[None, :], total",
               "tl.store(c_ptr + rows[:, None] * N + cols[None, :], total", "race", "value"),
    "parts_overlap": ("(k * SPLIT + part) * BLOCK_K", "(k + part) * BLOCK_K", "value", "value"),
    "part_missing": ("triton.cdiv(N, 16), 2)", "triton.cdiv(N, 16), 1)", "value", "value"),
    "mask_le": ("(ks[None, :] < K)", "(ks[None, :] <= K)", "bounds", "fault"),
}
