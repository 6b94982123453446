"""GPTQ matmul: 4-bit weights packed along K, scales per group of 32, zero points packed along N and stored minus one."""
import torch
import triton
import triton.language as tl


@triton.jit
def gptq_matmul_kernel(
    x_ptr, qw_ptr, s_ptr, qz_ptr, o_ptr, M, N, K, x_m, qw_k, s_g, qz_g, o_m,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr,
):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    kk = tl.arange(0, GROUP)
    n_mask = n < N
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for g in range(0, K // GROUP):
        k = g * GROUP + kk
        x = tl.load(x_ptr + m[:, None] * x_m + k[None, :], mask=m[:, None] < M, other=0.0)
        packed = tl.load(qw_ptr + (k // 8)[:, None] * qw_k + n[None, :], mask=n_mask[None, :], other=0)
        w = (packed >> ((k % 8) * 4)[:, None]) & 0xF
        z = tl.load(qz_ptr + g * qz_g + n // 8, mask=n_mask, other=0)
        z = ((z >> ((n % 8) * 4)) & 0xF) + 1
        s = tl.load(s_ptr + g * s_g + n, mask=n_mask, other=0.0)
        w = (w - z[None, :]).to(tl.float32) * s[None, :]
        acc += tl.dot(x, w)
    tl.store(o_ptr + m[:, None] * o_m + n[None, :], acc, mask=(m[:, None] < M) & n_mask[None, :])


def launch(M=9, n8=5, groups=3):
    N, K = 8 * n8, 32 * groups
    x = torch.randn(M, K)
    qweight = torch.randint(-(2**31), 2**31, (4 * groups, N), dtype=torch.int32)
    scales = torch.randn(groups, N)
    qzeros = torch.randint(-(2**31), 2**31, (groups, n8), dtype=torch.int32)
    out = torch.empty(M, N)
    gptq_matmul_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 32))](
        x, qweight, scales, qzeros, out, M, N, K,
        x.stride(0), qweight.stride(0), scales.stride(0), qzeros.stride(0), out.stride(0),
        BLOCK_M=16, BLOCK_N=32, GROUP=32,
    )
    return out


def reference(x, qweight, scales, qzeros):
    shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    w = ((qweight[:, None, :] >> shifts[None, :, None]) & 15).flatten(0, 1)
    z = ((qzeros[:, :, None] >> shifts) & 15).flatten(1, 2) + 1
    w = (w - z.repeat_interleave(32, dim=0)) * scales.repeat_interleave(32, dim=0)
    return x @ w
TRUTH = "verified"
