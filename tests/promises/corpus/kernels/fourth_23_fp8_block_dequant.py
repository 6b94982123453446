"""Dequantises an fp8 weight with one scale for each block of 128 × 128, as DeepSeek's weight_dequant; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def weight_dequant_kernel(x_ptr, s_ptr, y_ptr, M, N, BLOCK_SIZE: tl.constexpr):
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    n = tl.cdiv(N, BLOCK_SIZE)
    offs_m = pid_m * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    offs_n = pid_n * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    offs = offs_m[:, None] * N + offs_n[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    s = tl.load(s_ptr + pid_m * n + pid_n)
    tl.store(y_ptr + offs, x * s, mask=mask)


def weight_dequant(x, s, block_size=128):
    M, N = x.size()
    y = torch.empty(M, N, dtype=torch.float32)
    grid = lambda meta: (triton.cdiv(M, meta["BLOCK_SIZE"]), triton.cdiv(N, meta["BLOCK_SIZE"]))  # noqa: E731
    weight_dequant_kernel[grid](x, s, y, M, N, BLOCK_SIZE=block_size)
    return y


def launch(M=200, N=300):
    x = torch.randn(M, N).to(torch.float8_e4m3fn)
    s = torch.rand(triton.cdiv(M, 128), triton.cdiv(N, 128))
    return weight_dequant(x, s)


def reference(x, s):
    M, N = x.shape
    scales = s.repeat_interleave(128, dim=0)[:M].repeat_interleave(128, dim=1)[:, :N]
    return x.float() * scales
