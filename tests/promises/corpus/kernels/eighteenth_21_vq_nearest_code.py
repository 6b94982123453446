"""VQ-VAE assignment: nearest codebook entry by |c|^2 - 2 x.c over tiles of codes, the index and the looked-up code."""
import torch
import triton
import triton.language as tl


@triton.jit
def nearest_code_kernel(
    x_ptr, codebook_ptr, idx_ptr, quant_ptr,
    N, K, D,
    stride_xn, stride_ck, stride_qn,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    dims = tl.arange(0, BLOCK_D)
    row_mask = rows < N
    d_mask = dims < D
    x = tl.load(
        x_ptr + rows[:, None] * stride_xn + dims[None, :],
        mask=row_mask[:, None] & d_mask[None, :], other=0.0,
    )

    best = tl.full((BLOCK_N,), float("inf"), dtype=tl.float32)
    best_idx = tl.zeros((BLOCK_N,), dtype=tl.int32)
    for k0 in range(0, K, BLOCK_K):
        codes = k0 + tl.arange(0, BLOCK_K)
        c = tl.load(
            codebook_ptr + codes[:, None] * stride_ck + dims[None, :],
            mask=(codes[:, None] < K) & d_mask[None, :], other=0.0,
        )
        dist = tl.sum(c * c, axis=1)[None, :] - 2.0 * tl.dot(x, tl.trans(c))
        dist = tl.where(codes[None, :] < K, dist, float("inf"))
        tile_best, tile_idx = tl.min(dist, axis=1, return_indices=True)
        better = tile_best < best
        best = tl.where(better, tile_best, best)
        best_idx = tl.where(better, k0 + tile_idx, best_idx)

    tl.store(idx_ptr + rows, best_idx.to(tl.int64), mask=row_mask)
    mask = row_mask[:, None] & d_mask[None, :]
    quant = tl.load(codebook_ptr + best_idx[:, None] * stride_ck + dims[None, :], mask=mask, other=0.0)
    tl.store(quant_ptr + rows[:, None] * stride_qn + dims[None, :], quant, mask=mask)


def launch(N=20, K=50, D=16):
    x = torch.randn(N, D, device="cuda")
    codebook = torch.randn(K, D, device="cuda")
    idx = torch.empty(N, device="cuda", dtype=torch.int64)
    quant = torch.empty_like(x)
    nearest_code_kernel[(triton.cdiv(N, 16),)](
        x, codebook, idx, quant,
        N, K, D,
        x.stride(0), codebook.stride(0), quant.stride(0),
        BLOCK_N=16, BLOCK_K=32, BLOCK_D=max(16, triton.next_power_of_2(D)),
    )
    return idx, quant


def reference(x, codebook):
    dist = (x[:, None, :] - codebook[None, :, :]).pow(2).sum(dim=-1)
    idx = dist.argmin(dim=-1)
    return idx, codebook[idx]

TRUTH = "verified"
