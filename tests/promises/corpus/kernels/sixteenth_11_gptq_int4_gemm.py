"""GPTQ-style 4-bit weight matmul: eight nibbles of K per int32, packed zero points (+1), fp scales per group of K, dequantised tile by tile."""
import torch
import triton
import triton.language as tl


@triton.jit
def _gptq_matmul_kernel(
    a_ptr, qw_ptr, c_ptr, scales_ptr, qz_ptr,
    M, N, K, group_size,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, stride_scales, stride_zeros,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    n_mask = offs_n < N
    shifter = (offs_k % 8) * 4
    zeros_shifter = (offs_n % 8) * 4
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        k = k0 + offs_k
        a = tl.load(a_ptr + offs_m[:, None] * stride_am + k[None, :] * stride_ak,
                    mask=(offs_m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(qw_ptr + (k // 8)[:, None] * stride_bk + offs_n[None, :] * stride_bn,
                    mask=(k[:, None] < K) & n_mask[None, :], other=0)
        g = k // group_size
        gmask = (k[:, None] < K) & n_mask[None, :]
        scales = tl.load(scales_ptr + g[:, None] * stride_scales + offs_n[None, :], mask=gmask, other=0.0)
        zeros = tl.load(qz_ptr + g[:, None] * stride_zeros + (offs_n // 8)[None, :], mask=gmask, other=0)
        zeros = ((zeros >> zeros_shifter[None, :]) & 0xF) + 1
        b = (b >> shifter[:, None]) & 0xF
        w = (b - zeros).to(tl.float32) * scales
        acc += tl.dot(a, w)
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(offs_m[:, None] < M) & n_mask[None, :])


def launch(M=10, n8=3, groups=4):
    group_size = 16
    N, K = 8 * n8, groups * group_size
    a = torch.randn(M, K, device="cuda")
    qweight = torch.randint(-2**31, 2**31 - 1, (K // 8, N), device="cuda", dtype=torch.int32)
    qzeros = torch.randint(-2**31, 2**31 - 1, (groups, N // 8), device="cuda", dtype=torch.int32)
    scales = torch.randn(groups, N, device="cuda")
    c = torch.empty(M, N, device="cuda")
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 16))
    _gptq_matmul_kernel[grid](
        a, qweight, c, scales, qzeros, M, N, K, group_size,
        a.stride(0), a.stride(1), qweight.stride(0), qweight.stride(1), c.stride(0), c.stride(1),
        scales.stride(0), qzeros.stride(0),
        BLOCK_M=16, BLOCK_N=16, BLOCK_K=32,
    )
    return c


def reference(a, qweight, qzeros, scales):
    shifts = torch.arange(0, 32, 4, device=a.device, dtype=torch.int32)
    w = ((qweight[:, None, :] >> shifts[None, :, None]) & 0xF).flatten(0, 1)          # K, N
    z = ((qzeros[:, :, None] >> shifts[None, None, :]) & 0xF).flatten(1, 2) + 1       # groups, N
    z = z.repeat_interleave(16, dim=0)
    s = scales.repeat_interleave(16, dim=0)
    return a @ ((w - z).float() * s)

TRUTH = "verified"
