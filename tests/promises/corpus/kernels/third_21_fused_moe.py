"""Fused experts: tokens sorted by expert and padded to the block, weights of one expert for each block (vLLM, SGLang)."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def fused_moe_kernel(
    a_ptr, b_ptr, c_ptr, topk_weights_ptr, sorted_token_ids_ptr, expert_ids_ptr,
    N, K, num_valid_tokens,
    stride_am, stride_ak, stride_be, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, top_k: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_token = tl.load(sorted_token_ids_ptr + pid_m * BLOCK_M + tl.arange(0, BLOCK_M))
    token_mask = offs_token < num_valid_tokens
    off_expert = tl.load(expert_ids_ptr + pid_m)
    offs_bn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_token[:, None] // top_k * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + off_expert * stride_be + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        k_left = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=token_mask[:, None] & (offs_k[None, :] < k_left), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < k_left) & (offs_bn[None, :] < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    moe_weight = tl.load(topk_weights_ptr + offs_token, mask=token_mask, other=0)
    acc = acc * moe_weight[:, None]
    c_ptrs = c_ptr + stride_cm * offs_token[:, None] + stride_cn * offs_bn[None, :]
    tl.store(c_ptrs, acc, mask=token_mask[:, None] & (offs_bn[None, :] < N))


BLOCK_M = 16


def align_block_size(topk_ids, num_experts):
    flat = topk_ids.flatten()
    ids, experts = [], []
    for e in range(num_experts):
        mine = torch.nonzero(flat == e).flatten()
        blocks = triton.cdiv(len(mine), BLOCK_M)
        ids.append(torch.cat([mine, mine.new_full((blocks * BLOCK_M - len(mine),), flat.numel())]))
        experts += [e] * blocks
    return torch.cat(ids).int(), torch.tensor(experts, dtype=torch.int32)


def launch(a, w, topk_weights, topk_ids):
    M, K = a.shape
    E, _, N = w.shape
    top_k = topk_ids.shape[1]
    sorted_ids, expert_ids = align_block_size(topk_ids, E)
    c = torch.zeros((M * top_k, N), dtype=a.dtype)
    grid = (expert_ids.numel(), triton.cdiv(N, 16))
    fused_moe_kernel[grid](
        a, w, c, topk_weights, sorted_ids, expert_ids, N, K, topk_ids.numel(),
        a.stride(0), a.stride(1), w.stride(0), w.stride(1), w.stride(2), c.stride(0), c.stride(1),
        BLOCK_M=BLOCK_M, BLOCK_N=16, BLOCK_K=16, top_k=top_k)
    return c


def reference(a, w, topk_weights, topk_ids):
    rows = a.repeat_interleave(topk_ids.shape[1], dim=0)
    chosen = w[topk_ids.flatten().long()]
    return torch.bmm(rows[:, None, :], chosen)[:, 0, :] * topk_weights.flatten()[:, None]


def inputs(M=13, K=20, N=24, E=3, top_k=2):
    weights, ids = torch.rand(M, E).softmax(-1).topk(top_k)
    return torch.randn(M, K), torch.randn(E, K, N), weights, ids.int()
