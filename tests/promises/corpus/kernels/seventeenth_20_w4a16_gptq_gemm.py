"""Quantisation: GPTQ-style int4 weight-only GEMM (8 nibbles in an int32 along K, groups of 32). Mistake: one scale/zero row per K tile, right for BLOCK_K = 32 only; the autotuner also has BLOCK_K = 64."""
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 32}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 64}, num_warps=4, num_stages=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def w4a16_kernel(
    a_ptr, qw_ptr, scale_ptr, zero_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak, stride_qk, stride_qn, stride_sg, stride_sn, stride_cm, stride_cn,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    n_mask = offs_n < N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        offs_k = k0 + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak,
                    mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)
        packed = tl.load(qw_ptr + (offs_k[:, None] // 8) * stride_qk + offs_n[None, :] * stride_qn,
                         mask=(offs_k[:, None] < K) & n_mask[None, :], other=0)
        q = (packed >> ((offs_k[:, None] % 8) * 4)) & 0xF
        g = k0 // GROUP
        scale = tl.load(scale_ptr + g * stride_sg + offs_n * stride_sn, mask=n_mask, other=0.0)
        zero = tl.load(zero_ptr + g * stride_sg + offs_n * stride_sn, mask=n_mask, other=0.0)
        b = (q.to(tl.float32) - zero[None, :]) * scale[None, :]
        acc += tl.dot(a, b.to(a.dtype))
    tl.store(c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn, acc,
             mask=(offs_m[:, None] < M) & n_mask[None, :])


def launch(M=10, N=40, groups=4):
    group = 32
    K = groups * group
    x = torch.randn(M, K, device="cuda")
    qweight = torch.randint(-(2**31), 2**31 - 1, (K // 8, N), device="cuda", dtype=torch.int32)
    scales = torch.rand(groups, N, device="cuda")
    zeros = torch.randint(0, 16, (groups, N), device="cuda").float()
    out = torch.empty(M, N, device="cuda")
    grid = lambda META: (triton.cdiv(M, META["BLOCK_M"]), triton.cdiv(N, META["BLOCK_N"]))
    w4a16_kernel[grid](
        x, qweight, scales, zeros, out, M, N, K,
        x.stride(0), x.stride(1), qweight.stride(0), qweight.stride(1), scales.stride(0), scales.stride(1),
        out.stride(0), out.stride(1), GROUP=group,
    )
    return out


def reference(x, qweight, scales, zeros):
    shifts = torch.arange(8, device=x.device, dtype=torch.int32) * 4
    q = ((qweight[:, None, :] >> shifts[None, :, None]) & 0xF).flatten(0, 1).float()
    w = (q - zeros.repeat_interleave(32, dim=0)) * scales.repeat_interleave(32, dim=0)
    return x @ w

TRUTH = "broken"
