"""Pointwise SiLU attention of recommenders: no softmax, causal, each score divided by the longest length."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _hstu_attn_fwd(Q, K, V, Out, stride_h, stride_t, alpha, T, D: tl.constexpr, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr):
    pid_m = tl.program_id(0)
    head = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    base = head * stride_h
    q = tl.load(Q + base + offs_m[:, None] * stride_t + offs_d[None, :], mask=offs_m[:, None] < T, other=0.0)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    for start_n in range(0, T, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(K + base + offs_n[None, :] * stride_t + offs_d[:, None], mask=offs_n[None, :] < T, other=0.0)
        qk = tl.dot(q, k, input_precision="ieee") * alpha
        silu = qk / (1.0 + tl.exp(-qk)) * (1.0 / T)
        silu = tl.where(offs_m[:, None] >= offs_n[None, :], silu, 0.0)
        v = tl.load(V + base + offs_n[:, None] * stride_t + offs_d[None, :], mask=offs_n[:, None] < T, other=0.0)
        acc += tl.dot(silu, v, input_precision="ieee")
    tl.store(Out + base + offs_m[:, None] * stride_t + offs_d[None, :], acc, mask=offs_m[:, None] < T)


def launch():
    H, T, D = 3, 70, 32
    q, k, v = torch.randn(H, T, D), torch.randn(H, T, D), torch.randn(H, T, D)
    out = torch.empty_like(q)
    _hstu_attn_fwd[(triton.cdiv(T, 32), H)](q, k, v, out, q.stride(0), q.stride(1), 0.25, T, D=D, BLOCK_M=32,
                                            BLOCK_N=16)
    return out


def reference(q, k, v):
    scores = F.silu(q @ k.transpose(-1, -2) * 0.25) / q.shape[1]
    return scores.tril() @ v
