"""Batched matmul; broken: after a step along K the pointers to b go on by the stride of n (seen once K is more than one tile)."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def bmm_kernel(
    A, B, O, M, N, K,
    stride_ab, stride_am, stride_ak, stride_bb, stride_bk, stride_bn, stride_ob, stride_om, stride_on,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):
    pid_b = tl.program_id(2)
    A += pid_b * stride_ab
    B += pid_b * stride_bb
    O += pid_b * stride_ob
    offs_m = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    offs_n = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    offs_k = tl.arange(0, TILE_K)
    a_ptrs = A + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = B + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    o = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TILE_K)):
        rest = K - k * TILE_K
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < rest), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < rest) & (offs_n[None, :] < N), other=0.0)
        o += tl.dot(a, b)
        a_ptrs += TILE_K * stride_ak
        b_ptrs += TILE_K * stride_bn
    tl.store(O + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on, o,
             mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def bmm(a, b):
    batch, M, K = a.shape
    N = b.shape[2]
    out = torch.empty((batch, M, N), dtype=a.dtype)
    grid = lambda meta: (triton.cdiv(M, meta["TILE_M"]), triton.cdiv(N, meta["TILE_N"]), batch)  # noqa: E731
    bmm_kernel[grid](a, b, out, M, N, K, *a.stride(), *b.stride(), *out.stride(), TILE_M=16, TILE_N=32, TILE_K=32)
    return out


def launch(batch=3, M=18, N=40, K=30):
    a = torch.randn(batch, M, K)
    b = torch.randn(batch, K, N)
    return bmm(a, b)


def reference(a, b):
    return torch.bmm(a, b)
