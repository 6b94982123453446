"""Split-K matmul whose mask along K advances by BLOCK_K instead of BLOCK_K * SPLIT_K per step: right where K is a multiple of 64, reads beyond the row elsewhere."""
import torch
import triton
import triton.language as tl


@triton.jit
def splitk_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_m, b_k, c_m,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr,
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.program_id(2) * BLOCK_K + tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + m[:, None] * a_m + k[None, :]
    b_ptrs = b_ptr + k[:, None] * b_k + n[None, :]
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        left = K - step * BLOCK_K
        a = tl.load(a_ptrs, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        b = tl.load(b_ptrs, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * SPLIT_K
        b_ptrs += BLOCK_K * SPLIT_K * b_k
    tl.atomic_add(c_ptr + m[:, None] * c_m + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def launch(M=20, N=37, K=128):
    a = torch.randn(M, K)
    b = torch.randn(K, N)
    c = torch.zeros(M, N)
    splitk_matmul_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32), 2)](
        a, b, c, M, N, K, a.stride(0), b.stride(0), c.stride(0), BLOCK_M=16, BLOCK_N=32, BLOCK_K=32, SPLIT_K=2
    )
    return c


def reference(a, b):
    return a @ b
TRUTH = "broken"
