"""Dequantise int4 weights, eight to a 32-bit word along K, with a scale and a zero point for each group of 32."""

import torch
import triton
import triton.language as tl

GROUP = 32


@triton.jit
def dequant_int4_kernel(
    qweight_ptr, scales_ptr, zeros_ptr, out_ptr, K, N,
    GROUP_SIZE: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_N: tl.constexpr,
):
    k = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (k[:, None] < K) & (n[None, :] < N)
    word = tl.load(qweight_ptr + (k // 8)[:, None] * N + n[None, :], mask=mask, other=0)
    shift = (k % 8) * 4
    nibble = (word >> shift[:, None]) & 0xF
    g = k // GROUP_SIZE
    scale = tl.load(scales_ptr + g[:, None] * N + n[None, :], mask=mask, other=0.0)
    zero = tl.load(zeros_ptr + g[:, None] * N + n[None, :], mask=mask, other=0)
    w = (nibble - zero).to(tl.float32) * scale
    tl.store(out_ptr + k[:, None] * N + n[None, :], w, mask=mask)


def launch(K=96, N=40):
    qweight = torch.randint(-(2**31), 2**31 - 1, (K // 8, N), dtype=torch.int32, device="cuda")
    scales = torch.randn(K // GROUP, N, device="cuda")
    zeros = torch.randint(0, 16, (K // GROUP, N), dtype=torch.int32, device="cuda")
    out = torch.empty(K, N, device="cuda")
    grid = (triton.cdiv(K, 16), triton.cdiv(N, 32))
    dequant_int4_kernel[grid](qweight, scales, zeros, out, K, N, GROUP_SIZE=GROUP, BLOCK_K=16, BLOCK_N=32)
    return out


def reference(qweight, scales, zeros):
    words, n = qweight.shape
    shifts = torch.arange(0, 32, 4, dtype=torch.int32, device=qweight.device)
    nibbles = (qweight[:, None, :] >> shifts[None, :, None]) & 0xF
    grouped = nibbles.reshape(-1, GROUP, n)
    return ((grouped - zeros[:, None, :]).float() * scales[:, None, :]).reshape(words * 8, n)


TRUTH = "verified"
