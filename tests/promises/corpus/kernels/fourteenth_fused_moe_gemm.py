"""VLLM's fused MoE GEMM: token-expert pairs sorted by expert and padded to tiles on the host, one expert per tile, routing weight multiplied in."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_moe_kernel(
    a_ptr, b_ptr, c_ptr, weight_ptr, sorted_ptr, expert_ptr, N, K, pairs, top_k,
    a_m, b_e, b_n, c_m, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    pair = tl.load(sorted_ptr + pid_m * BLOCK_M + tl.arange(0, BLOCK_M))
    valid = pair < pairs
    expert = tl.load(expert_ptr + pid_m)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    kk = tl.arange(0, BLOCK_K)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for k0 in range(0, K, BLOCK_K):
        k = k0 + kk
        a = tl.load(a_ptr + (pair // top_k)[:, None] * a_m + k[None, :], mask=valid[:, None] & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + expert * b_e + n[None, :] * b_n + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        acc += tl.dot(a, b)
    w = tl.load(weight_ptr + pair, mask=valid, other=0.0)
    tl.store(c_ptr + pair[:, None] * c_m + n[None, :], acc * w[:, None], mask=valid[:, None] & (n[None, :] < N))


def align_block_size(topk_ids, experts, block):
    flat = topk_ids.flatten()
    counts = torch.zeros(experts, dtype=torch.int64).scatter_add_(0, flat, torch.ones_like(flat))
    padded = (counts + block - 1) // block * block
    ends = padded.cumsum(0)
    tiles = triton.cdiv(flat.numel() + experts * (block - 1), block)
    order = flat.argsort(stable=True)
    by_expert = flat[order]
    rank = torch.arange(flat.numel()) - (counts.cumsum(0) - counts)[by_expert]
    sorted_ids = torch.full((tiles * block,), flat.numel(), dtype=torch.int64)
    sorted_ids[(ends - padded)[by_expert] + rank] = order
    expert_ids = torch.searchsorted(ends, torch.arange(tiles) * block, right=True).clamp(max=experts - 1)
    return sorted_ids, expert_ids, tiles


def launch(tokens=13, top_k=2, experts=4, N=40, K=50):
    a = torch.randn(tokens, K)
    b = torch.randn(experts, N, K)
    topk_weights = torch.rand(tokens, top_k)
    topk_ids = torch.randint(0, experts, (tokens, top_k))
    sorted_ids, expert_ids, tiles = align_block_size(topk_ids, experts, 16)
    c = torch.empty(tokens, top_k, N)
    fused_moe_kernel[(tiles, triton.cdiv(N, 32))](
        a, b, c, topk_weights, sorted_ids, expert_ids, N, K, tokens * top_k, top_k,
        a.stride(0), b.stride(0), b.stride(1), c.stride(1), BLOCK_M=16, BLOCK_N=32, BLOCK_K=16,
    )
    return c


def reference(a, b, topk_weights, topk_ids):
    return torch.einsum("td,tknd->tkn", a, b[topk_ids]) * topk_weights[..., None]
TRUTH = "verified"
