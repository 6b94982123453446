"""W4A16 GEMM in the GPTQ layout: int32 words of eight nibbles along K, zero points packed along N, scales per group of 32 along K."""
import torch
import triton
import triton.language as tl


@triton.jit
def w4a16_kernel(a_ptr, qw_ptr, s_ptr, qz_ptr, c_ptr, M, N, K, sam, sqk, ssg, szg, scm,
                 GROUP: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        rk = k0 + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rm[:, None] * sam + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        kn = (rk[:, None] < K) & (rn[None, :] < N)
        word = tl.load(qw_ptr + (rk[:, None] // 8) * sqk + rn[None, :], mask=kn, other=0)
        w = (word >> ((rk[:, None] % 8) * 4)) & 0xF
        g = rk // GROUP
        zword = tl.load(qz_ptr + g[:, None] * szg + (rn[None, :] // 8), mask=kn, other=0)
        z = (zword >> ((rn[None, :] % 8) * 4)) & 0xF
        s = tl.load(s_ptr + g[:, None] * ssg + rn[None, :], mask=kn, other=0.0)
        b = (w - z).to(tl.float16) * s
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * scm + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


def launch(M=9, N=48, K=128):
    group = 32
    a = torch.randn(M, K, device="cuda", dtype=torch.float16)
    qweight = torch.randint(-2**31, 2**31 - 1, (K // 8, N), device="cuda", dtype=torch.int32)
    qzeros = torch.randint(-2**31, 2**31 - 1, (K // group, N // 8), device="cuda", dtype=torch.int32)
    scales = torch.rand(K // group, N, device="cuda", dtype=torch.float16)
    c = torch.empty(M, N, device="cuda", dtype=torch.float16)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 32))
    w4a16_kernel[grid](a, qweight, scales, qzeros, c, M, N, K, a.stride(0), qweight.stride(0), scales.stride(0), qzeros.stride(0), c.stride(0),
                       GROUP=group, BLOCK_M=16, BLOCK_N=32, BLOCK_K=32)
    return c


def reference(a, qweight, qzeros, scales):
    shifts = torch.arange(8, device=a.device, dtype=torch.int32) * 4
    w = (qweight[:, None, :] >> shifts[None, :, None]) & 0xF
    w = w.reshape(-1, qweight.shape[1])
    z = (qzeros[:, :, None] >> shifts) & 0xF
    z = z.reshape(qzeros.shape[0], -1)
    w = (w - z.repeat_interleave(32, 0)).float() * scales.float().repeat_interleave(32, 0)
    return (a.float() @ w).half()
TRUTH = "verified"
