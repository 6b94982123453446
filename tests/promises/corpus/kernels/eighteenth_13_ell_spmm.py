"""Sparse matrix in padded ELL layout (column -1 is padding) times a dense matrix, plus beta times what the output held before."""
import torch
import triton
import triton.language as tl


@triton.jit
def ell_spmm_kernel(
    cols_ptr, vals_ptr, dense_ptr, out_ptr,
    N, nnz_per_row, alpha, beta,
    stride_er, stride_dr, stride_or,
    BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    n_mask = offs_n < N
    acc = tl.zeros((BLOCK_N,), dtype=tl.float32)
    for e in range(0, nnz_per_row):
        col = tl.load(cols_ptr + row * stride_er + e)
        if col >= 0:
            val = tl.load(vals_ptr + row * stride_er + e)
            b = tl.load(dense_ptr + col * stride_dr + offs_n, mask=n_mask, other=0.0)
            acc += val * b
    out_ptrs = out_ptr + row * stride_or + offs_n
    old = tl.load(out_ptrs, mask=n_mask, other=0.0)
    tl.store(out_ptrs, alpha * acc + beta * old, mask=n_mask)


def launch(R=9, C=14, N=40, nnz_per_row=5):
    cols = torch.randint(-1, C, (R, nnz_per_row), device="cuda", dtype=torch.int32)
    vals = torch.randn(R, nnz_per_row, device="cuda")
    dense = torch.randn(C, N, device="cuda")
    out = torch.randn(R, N, device="cuda")
    grid = lambda meta: (R, triton.cdiv(N, meta["BLOCK_N"]))
    ell_spmm_kernel[grid](
        cols, vals, dense, out,
        N, nnz_per_row, 2.0, 0.5,
        cols.stride(0), dense.stride(0), out.stride(0),
        BLOCK_N=32,
    )
    return out


def reference(cols, vals, dense, out):
    weights = torch.where(cols >= 0, vals, 0.0)
    rows = dense[cols.clamp(min=0).long()]
    return 2.0 * (weights[:, :, None] * rows).sum(dim=1) + 0.5 * out

TRUTH = "verified"
