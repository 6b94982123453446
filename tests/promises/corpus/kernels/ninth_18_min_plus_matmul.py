"""Min-plus (tropical) matrix product: one squaring step of all-pairs shortest paths."""
import torch
import triton
import triton.language as tl


@triton.jit
def min_plus_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid = tl.program_id(0)
    num_n = tl.cdiv(N, BLOCK_N)
    offs_m = (pid // num_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (pid % num_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m < M
    mask_n = offs_n < N

    acc = tl.full((BLOCK_M, BLOCK_N), float("inf"), dtype=tl.float32)
    a_ptrs = a_ptr + offs_m * stride_am
    b_ptrs = b_ptr + offs_n * stride_bn
    for _ in range(K):
        a = tl.load(a_ptrs, mask=mask_m, other=float("inf"))
        b = tl.load(b_ptrs, mask=mask_n, other=float("inf"))
        acc = tl.minimum(acc, a[:, None] + b[None, :])
        a_ptrs += stride_ak
        b_ptrs += stride_bk
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=mask_m[:, None] & mask_n[None, :])


def launch(M=19, N=37, K=11):
    a = torch.rand(M, K, device="cuda")
    b = torch.rand(K, N, device="cuda")
    c = torch.empty(M, N, device="cuda")
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
    min_plus_kernel[grid](
        a, b, c, M, N, K,
        a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
        BLOCK_M=16, BLOCK_N=32,
    )
    return c


def reference(a, b):
    return (a[:, :, None] + b[None, :, :]).amin(dim=1)


TRUTH = "verified"
