"""Activations in float, weights in four bits packed eight to an int32 along K, with scales and zeros by group."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def w4a16_kernel(
    x_ptr, qw_ptr, s_ptr, z_ptr, o_ptr,
    M, N, K,
    group_size: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        offs_k = k0 + tl.arange(0, BK)
        x = tl.load(x_ptr + offs_m[:, None] * K + offs_k[None, :],
                    mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)
        wmask = (offs_k[:, None] < K) & (offs_n[None, :] < N)
        packed = tl.load(qw_ptr + (offs_k[:, None] // 8) * N + offs_n[None, :], mask=wmask, other=0)
        shift = (offs_k % 8) * 4
        q = (packed >> shift[:, None]) & 0xF
        g = offs_k // group_size
        s = tl.load(s_ptr + g[:, None] * N + offs_n[None, :], mask=wmask, other=0.0)
        z = tl.load(z_ptr + g[:, None] * N + offs_n[None, :], mask=wmask, other=0)
        w = (q - z).to(tl.float32) * s
        acc = tl.dot(x, w, acc, input_precision="ieee")
    tl.store(o_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def launch(x, qweight, scales, zeros):
    M, K = x.shape
    N = qweight.shape[1]
    group = K // scales.shape[0]
    out = torch.empty((M, N), dtype=x.dtype)
    w4a16_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](
        x, qweight, scales, zeros, out, M, N, K, group_size=group, BM=16, BN=16, BK=32)
    return out


def reference(x, qweight, scales, zeros):
    shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    q = (qweight[:, None, :] >> shifts[None, :, None]) & 15
    q = q.reshape(-1, qweight.shape[1])
    group = q.shape[0] // scales.shape[0]
    w = (q - zeros.repeat_interleave(group, 0)).float() * scales.repeat_interleave(group, 0)
    return x @ w


def inputs(M=18, N=40, groups=3, group=32):
    K = groups * group
    qweight = torch.randint(-2**31, 2**31, (K // 8, N), dtype=torch.int64).int()
    return torch.randn(M, K), qweight, torch.rand(groups, N) * 0.1, torch.randint(0, 16, (groups, N)).int()
