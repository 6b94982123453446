"""VQ-VAE's quantiser: nearest code of every vector, and that code."""
import torch
import triton
import triton.language as tl


@triton.jit
def vq_assign_kernel(
    x_ptr, code_ptr, norm_ptr, idx_ptr,
    N, K, D,
    stride_xn, stride_ck,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_D: tl.constexpr,
):
    pid = tl.program_id(0)
    rows = pid * BLOCK_N + tl.arange(0, BLOCK_N)
    row_mask = rows < N
    d = tl.arange(0, BLOCK_D)
    d_mask = d < D
    x = tl.load(x_ptr + rows[:, None] * stride_xn + d[None, :], mask=row_mask[:, None] & d_mask[None, :], other=0.0)

    best = tl.full((BLOCK_N,), float("inf"), dtype=tl.float32)
    best_idx = tl.zeros((BLOCK_N,), dtype=tl.int32)
    for k0 in range(0, K, BLOCK_K):
        codes = k0 + tl.arange(0, BLOCK_K)
        c_mask = codes < K
        c = tl.load(
            code_ptr + codes[None, :] * stride_ck + d[:, None], mask=c_mask[None, :] & d_mask[:, None], other=0.0
        )
        norm = tl.load(norm_ptr + codes, mask=c_mask, other=float("inf"))
        # |x|^2 is the same for all codes
        dist = norm[None, :] - 2.0 * tl.dot(x, c)
        m = tl.min(dist, axis=1)
        am = tl.argmin(dist, axis=1).to(tl.int32) + k0
        better = m < best
        best = tl.where(better, m, best)
        best_idx = tl.where(better, am, best_idx)
    tl.store(idx_ptr + rows, best_idx.to(tl.int64), mask=row_mask)


@triton.jit
def vq_gather_kernel(idx_ptr, code_ptr, out_ptr, D, stride_ck, stride_on, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    i = tl.load(idx_ptr + row)
    for d0 in range(0, D, BLOCK_D):
        d = d0 + tl.arange(0, BLOCK_D)
        v = tl.load(code_ptr + i * stride_ck + d, mask=d < D)
        tl.store(out_ptr + row * stride_on + d, v, mask=d < D)


def launch(N=19, K=37, D=13):
    x = torch.randn(N, D, device="cuda")
    codebook = torch.randn(K, D, device="cuda")
    norm = codebook.square().sum(-1)
    idx = torch.empty(N, dtype=torch.int64, device="cuda")
    out = torch.empty_like(x)
    vq_assign_kernel[(triton.cdiv(N, 16),)](
        x, codebook, norm, idx, N, K, D, x.stride(0), codebook.stride(0),
        BLOCK_N=16, BLOCK_K=16, BLOCK_D=max(16, triton.next_power_of_2(D)),
    )
    vq_gather_kernel[(N,)](idx, codebook, out, D, codebook.stride(0), out.stride(0), BLOCK_D=16)
    return out, idx


def reference(x, codebook):
    idx = (codebook.square().sum(-1) - 2 * x @ codebook.T).argmin(dim=1)
    return codebook[idx], idx


TRUTH = "verified"
