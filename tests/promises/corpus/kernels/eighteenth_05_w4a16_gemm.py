"""GPTQ-style int4 weight-only GEMM: eight nibbles per int32 along K, a scale and a zero point for each group of 32 rows."""
import torch
import triton
import triton.language as tl


@triton.jit
def w4a16_kernel(
    x_ptr, qweight_ptr, scales_ptr, zeros_ptr, out_ptr,
    M, N, num_groups,
    stride_xm, stride_xk, stride_qk, stride_qn, stride_sg, stride_sn, stride_om, stride_on,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, GROUP)
    n_mask = offs_n < N
    shifts = (offs_k % 8) * 4

    x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
    q_ptrs = qweight_ptr + (offs_k // 8)[:, None] * stride_qk + offs_n[None, :] * stride_qn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for g in range(0, num_groups):
        x = tl.load(x_ptrs, mask=offs_m[:, None] < M, other=0.0)
        packed = tl.load(q_ptrs, mask=n_mask[None, :], other=0)
        scale = tl.load(scales_ptr + g * stride_sg + offs_n * stride_sn, mask=n_mask, other=0.0)
        zero = tl.load(zeros_ptr + g * stride_sg + offs_n * stride_sn, mask=n_mask, other=0)
        nibble = (packed >> shifts[:, None]) & 0xF
        w = (nibble - zero[None, :]).to(tl.float32) * scale[None, :]
        acc += tl.dot(x, w.to(x.dtype))
        x_ptrs += GROUP * stride_xk
        q_ptrs += (GROUP // 8) * stride_qk

    out_ptrs = out_ptr + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on
    tl.store(out_ptrs, acc.to(out_ptr.dtype.element_ty), mask=(offs_m[:, None] < M) & n_mask[None, :])


def launch(M=20, N=40, num_groups=3):
    GROUP = 32
    x = torch.randn(M, GROUP * num_groups, device="cuda", dtype=torch.float16)
    qweight = torch.randint(-(2**31), 2**31 - 1, (GROUP // 8 * num_groups, N), device="cuda", dtype=torch.int32)
    scales = torch.rand(num_groups, N, device="cuda", dtype=torch.float32)
    zeros = torch.randint(0, 16, (num_groups, N), device="cuda", dtype=torch.int32)
    out = torch.empty(M, N, device="cuda", dtype=torch.float16)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))
    w4a16_kernel[grid](
        x, qweight, scales, zeros, out,
        M, N, num_groups,
        x.stride(0), x.stride(1), qweight.stride(0), qweight.stride(1),
        scales.stride(0), scales.stride(1), out.stride(0), out.stride(1),
        BLOCK_M=16, BLOCK_N=32, GROUP=GROUP,
    )
    return out


def reference(x, qweight, scales, zeros):
    shifts = torch.arange(0, 32, 4, device=x.device, dtype=torch.int32)
    nibbles = (qweight[:, None, :] >> shifts[None, :, None]) & 0xF
    nibbles = nibbles.reshape(-1, qweight.shape[1])
    zeros = zeros.repeat_interleave(32, dim=0)
    scales = scales.repeat_interleave(32, dim=0)
    w = (nibbles - zeros).to(torch.float32) * scales
    return (x.to(torch.float32) @ w).to(torch.float16)

TRUTH = "verified"
