"""A linear layer on packed 4-bit weights with group-wise scales and zeros (AWQ, GPTQ)."""

import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def int4_kernel(x_ptr, q_ptr, s_ptr, z_ptr, o_ptr, K, N, GROUP: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    keep = n < N
    acc = tl.zeros((BN,), dtype=tl.float32)
    for k in range(K):
        word = tl.load(q_ptr + (k // 2) * N + n, mask=keep, other=0).to(tl.int32)
        q = (word >> (4 * (k % 2))) & 15
        s = tl.load(s_ptr + (k // GROUP) * N + n, mask=keep, other=0.0)
        z = tl.load(z_ptr + (k // GROUP) * N + n, mask=keep, other=0.0)
        x = tl.load(x_ptr + m * K + k)
        acc += x * (q.to(tl.float32) - z) * s
    tl.store(o_ptr + m * N + n, acc, mask=keep)


def launch(M=3, K=32, N=20):
    GROUP = 8
    x = torch.randn(M, K, device="cuda")
    q = torch.randint(0, 256, (K // 2, N), dtype=torch.uint8, device="cuda")
    scales = torch.rand(K // GROUP, N, device="cuda")
    zeros = torch.rand(K // GROUP, N, device="cuda")
    out = torch.empty(M, N, device="cuda")
    int4_kernel[(M, triton.cdiv(N, 16))](x, q, scales, zeros, out, K, N, GROUP=GROUP, BN=16)
    return out


def reference(x, q, scales, zeros):
    low, high = q % 16, q // 16
    w = torch.stack([low, high], dim=1).reshape(-1, q.shape[1]).to(x.dtype)
    g = w.shape[0] // scales.shape[0]
    return x @ ((w - zeros.repeat_interleave(g, 0)) * scales.repeat_interleave(g, 0))
