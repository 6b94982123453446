"""Expert-parallel MoE: gather each token's expert rows back and sum them with their weights, local experts only."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def post_reorder_kernel(
    down_output_ptr,
    output_ptr,
    src2dst_ptr,
    topk_ids_ptr,
    topk_weights_ptr,
    start_expert_id,
    end_expert_id,
    topk,
    hidden_size,
    BLOCK_SIZE: tl.constexpr,
):
    src_idx = tl.program_id(0)
    src2dst_ptr = src2dst_ptr + src_idx * topk
    topk_ids_ptr = topk_ids_ptr + src_idx * topk
    topk_weights_ptr = topk_weights_ptr + src_idx * topk
    store_ptr = output_ptr + src_idx * hidden_size
    for start_offset in tl.range(0, hidden_size, BLOCK_SIZE):
        offset = start_offset + tl.arange(0, BLOCK_SIZE)
        mask = offset < hidden_size
        sum_vec = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
        for idx in range(topk):
            expert_id = tl.load(topk_ids_ptr + idx)
            if expert_id >= start_expert_id and expert_id <= end_expert_id:
                dst_idx = tl.load(src2dst_ptr + idx)
                weight = tl.load(topk_weights_ptr + idx)
                load_ptr = down_output_ptr + dst_idx * hidden_size
                sum_vec += tl.load(load_ptr + offset, mask=mask) * weight
        tl.store(store_ptr + offset, sum_vec, mask=mask)


def launch():
    tokens, topk, hidden, experts = 9, 3, 150, 8
    topk_ids = torch.argsort(torch.rand(tokens, experts), 1)[:, :topk].contiguous()
    topk_weights = torch.rand(tokens, topk)
    order = torch.argsort(topk_ids.view(-1), stable=True)
    src2dst = torch.argsort(order).view(tokens, topk)
    down_output = torch.randn(tokens * topk, hidden)
    output = torch.empty(tokens, hidden)
    post_reorder_kernel[(tokens,)](down_output, output, src2dst, topk_ids, topk_weights, 2, 5, topk, hidden, BLOCK_SIZE=64)
    return output


def reference(down_output, src2dst, topk_ids, topk_weights):
    local = (topk_ids >= 2) & (topk_ids <= 5)
    w = torch.where(local, topk_weights, torch.zeros_like(topk_weights))
    return (down_output[src2dst] * w[:, :, None]).sum(1)
