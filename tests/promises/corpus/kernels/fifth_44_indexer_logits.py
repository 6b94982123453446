"""Lightning indexer: weighted sum over heads of relu(q . k), minus infinity outside each query's range of keys."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _mqa_logits_kernel(
    Q, K, W, KS, KE, LOGITS,
    S, T, H,
    stride_qs, stride_qh, stride_kt, stride_ws, stride_ls,
    D: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_T: tl.constexpr,
):
    offs_s = tl.program_id(0) * BLOCK_S + tl.arange(0, BLOCK_S)
    offs_t = tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)
    offs_d = tl.arange(0, BLOCK_D)
    s_mask = offs_s < S
    t_mask = offs_t < T
    k = tl.load(K + offs_t[None, :] * stride_kt + offs_d[:, None], mask=t_mask[None, :] & (offs_d[:, None] < D), other=0.0)
    acc = tl.zeros((BLOCK_S, BLOCK_T), dtype=tl.float32)
    for h in range(0, H):
        q = tl.load(Q + offs_s[:, None] * stride_qs + h * stride_qh + offs_d[None, :], mask=s_mask[:, None] & (offs_d[None, :] < D), other=0.0)
        w = tl.load(W + offs_s * stride_ws + h, mask=s_mask, other=0.0)
        acc += tl.maximum(tl.dot(q, k), 0.0) * w[:, None]
    ks = tl.load(KS + offs_s, mask=s_mask, other=0)
    ke = tl.load(KE + offs_s, mask=s_mask, other=0)
    keep = (offs_t[None, :] >= ks[:, None]) & (offs_t[None, :] < ke[:, None])
    acc = tl.where(keep, acc, float("-inf"))
    tl.store(LOGITS + offs_s[:, None] * stride_ls + offs_t[None, :], acc, mask=s_mask[:, None] & t_mask[None, :])


def launch():
    queries, keys, heads, dim = 21, 50, 6, 48
    q = torch.randn(queries, heads, dim)
    k = torch.randn(keys, dim)
    weights = torch.randn(queries, heads)
    ks = torch.randint(0, 10, (queries,), dtype=torch.int32)
    ke = torch.randint(12, keys + 1, (queries,), dtype=torch.int32)
    logits = torch.empty(queries, keys)
    _mqa_logits_kernel[(triton.cdiv(queries, 16), triton.cdiv(keys, 32))](
        q, k, weights, ks, ke, logits,
        queries, keys, heads,
        q.stride(0), q.stride(1), k.stride(0), weights.stride(0), logits.stride(0),
        D=dim, BLOCK_D=triton.next_power_of_2(dim), BLOCK_S=16, BLOCK_T=32,
    )
    return logits


def reference(q, k, weights, ks, ke):
    score = torch.relu(torch.einsum("shd,td->sht", q, k))
    y = (score * weights[:, :, None]).sum(1)
    t = torch.arange(k.shape[0])
    keep = (t[None, :] >= ks[:, None]) & (t[None, :] < ke[:, None])
    return y.masked_fill(~keep, float("-inf"))
