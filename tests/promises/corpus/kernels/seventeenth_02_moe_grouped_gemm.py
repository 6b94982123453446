"""MoE: grouped GEMM over tokens sorted by expert and padded to blocks (fused_moe of vLLM/SGLang), router weight multiplied in the epilogue."""
import torch
import triton
import triton.language as tl


@triton.jit
def fused_moe_kernel(
    a_ptr, b_ptr, c_ptr, topk_weights_ptr,
    sorted_token_ids_ptr, expert_ids_ptr, num_tokens_post_padded_ptr,
    N, K, num_valid_tokens,
    stride_am, stride_ak, stride_be, stride_bn, stride_bk, stride_cm, stride_cn,
    top_k: tl.constexpr, MUL_WEIGHT: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    num_post = tl.load(num_tokens_post_padded_ptr)
    if pid_m * BLOCK_M >= num_post:
        return
    offs_slot = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    token = tl.load(sorted_token_ids_ptr + offs_slot)
    token_mask = token < num_valid_tokens
    expert = tl.load(expert_ids_ptr + pid_m).to(tl.int64)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (token[:, None] // top_k) * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = b_ptr + expert * stride_be + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        rest = K - k * BLOCK_K
        a = tl.load(a_ptrs, mask=token_mask[:, None] & (offs_k[None, :] < rest), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < rest) & (offs_n[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if MUL_WEIGHT:
        w = tl.load(topk_weights_ptr + token, mask=token_mask, other=0.0)
        acc = acc * w[:, None]
    c_ptrs = c_ptr + token[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=token_mask[:, None] & (offs_n[None, :] < N))


def moe_align_block_size(topk_ids, num_experts, block):
    flat = topk_ids.flatten()
    total = flat.numel()
    slots = total + num_experts * (block - 1)
    blocks = triton.cdiv(slots, block)
    sorted_ids = torch.full((blocks * block,), total, dtype=torch.int32, device=flat.device)
    counts = (flat[:, None] == torch.arange(num_experts, device=flat.device)[None, :]).sum(0)
    padded = (counts + block - 1) // block * block
    ends = padded.cumsum(0)
    order = torch.argsort(flat, stable=True)
    experts = flat[order]
    rank = torch.arange(total, device=flat.device) - (counts.cumsum(0) - counts)[experts]
    sorted_ids[(ends - padded)[experts] + rank] = order.to(torch.int32)
    first = torch.arange(blocks, device=flat.device) * block
    expert_ids = torch.searchsorted(ends, first, right=True).clamp(max=num_experts - 1).to(torch.int32)
    return sorted_ids, expert_ids, ends[-1:].to(torch.int32)


def launch(tokens=9, hidden=40, inter=48, experts=4):
    top_k = 2
    x = torch.randn(tokens, hidden, device="cuda")
    w = torch.randn(experts, inter, hidden, device="cuda")
    router = torch.randn(tokens, experts, device="cuda")
    topk_weights, topk_ids = torch.softmax(router, dim=-1).topk(top_k, dim=-1)
    BLOCK_M, BLOCK_N, BLOCK_K = 16, 32, 16
    sorted_ids, expert_ids, num_post = moe_align_block_size(topk_ids, experts, BLOCK_M)
    out = torch.empty(tokens, top_k, inter, device="cuda")
    grid = (expert_ids.numel(), triton.cdiv(inter, BLOCK_N))
    fused_moe_kernel[grid](
        x, w, out, topk_weights, sorted_ids, expert_ids, num_post,
        inter, hidden, topk_ids.numel(),
        x.stride(0), x.stride(1), w.stride(0), w.stride(1), w.stride(2), out.stride(1), out.stride(2),
        top_k=top_k, MUL_WEIGHT=True, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K,
    )
    return out.sum(dim=1)


def reference(x, w, router):
    weights, ids = torch.softmax(router, dim=-1).topk(2, dim=-1)
    out = torch.einsum("th,tknh->tkn", x, w[ids])
    return (out * weights[..., None]).sum(1)

TRUTH = "verified"
