"""Where does each expert's group start among the (token, slot) pairs sorted by expert?"""
import torch
import triton
import triton.language as tl


@triton.jit
def compute_expert_offsets(topk_ids, offsets, counts, numel, BLOCK: tl.constexpr):
    expert = tl.program_id(0)
    below = tl.zeros([BLOCK], dtype=tl.int32)
    mine = tl.zeros([BLOCK], dtype=tl.int32)
    for start in range(0, numel, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        ids = tl.load(topk_ids + offs, mask=offs < numel, other=2147483647)
        below += (ids < expert).to(tl.int32)
        mine += (ids == expert).to(tl.int32)
    tl.store(offsets + expert, tl.sum(below, axis=0))
    tl.store(counts + expert, tl.sum(mine, axis=0))


def launch(tokens=21, topk=2, num_experts=8):
    topk_ids = torch.randint(0, num_experts, (tokens, topk), dtype=torch.int32, device="cuda")
    offsets = torch.empty(num_experts, dtype=torch.int32, device="cuda")
    counts = torch.empty(num_experts, dtype=torch.int32, device="cuda")
    compute_expert_offsets[(num_experts,)](topk_ids, offsets, counts, topk_ids.numel(), BLOCK=32)
    return offsets, counts


def reference(topk_ids, num_experts):
    hot = topk_ids.reshape(-1, 1) == torch.arange(num_experts, device=topk_ids.device)
    counts = hot.sum(dim=0)
    offsets = counts.cumsum(0) - counts
    return offsets.to(torch.int32), counts.to(torch.int32)


TRUTH = "verified"
