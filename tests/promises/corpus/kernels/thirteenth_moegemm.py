"""moegemm, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _grouped_gemm_contiguous(
    a_ptr,
    b_ptr,
    c_ptr,
    expert_ids_ptr,
    row_weight_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_be,
    stride_bn,
    stride_bk,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    MUL_ROUTED_WEIGHT: tl.constexpr,
):
    pid = tl.program_id(0)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    pid_m = pid // num_pid_n
    pid_n = pid % num_pid_n
    expert = tl.load(expert_ids_ptr + pid_m).to(tl.int64)

    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    n_mask = offs_n < N

    a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + expert * stride_be + offs_n[None, :] * stride_bn + offs_k[:, None] * stride_bk
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        k_mask = offs_k < K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=k_mask[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=k_mask[:, None] & n_mask[None, :], other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    if MUL_ROUTED_WEIGHT:
        w = tl.load(row_weight_ptr + offs_m)
        acc = acc * w[:, None]
    tl.store(
        c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn,
        acc.to(c_ptr.dtype.element_ty),
        mask=n_mask[None, :],
    )


def grouped_gemm(a, b, expert_ids, row_weight, block_m=16):
    M, K = a.shape
    E, N, _ = b.shape
    assert M == expert_ids.shape[0] * block_m
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    grid = lambda META: ((M // block_m) * triton.cdiv(N, META["BLOCK_N"]),)
    _grouped_gemm_contiguous[grid](
        a, b, c, expert_ids, row_weight, M, N, K,
        a.stride(0), a.stride(1), b.stride(0), b.stride(1), b.stride(2), c.stride(0), c.stride(1),
        BLOCK_M=block_m, BLOCK_N=32, BLOCK_K=16, MUL_ROUTED_WEIGHT=True,
    )
    return c


def launch(blocks=4, n=40, k=36, experts=3):
    a = torch.randn(blocks * 16, k, device="cuda")
    b = torch.randn(experts, n, k, device="cuda")
    expert_ids = torch.randint(0, experts, (blocks,), dtype=torch.int32, device="cuda")
    row_weight = torch.rand(blocks * 16, device="cuda")
    return grouped_gemm(a, b, expert_ids, row_weight)


def reference(a, b, expert_ids, row_weight):
    tiles = a.unflatten(0, (-1, 16))
    y = torch.bmm(tiles, b[expert_ids].transpose(1, 2)).flatten(0, 1)
    return y * row_weight[:, None]


TRUTH = "verified"
