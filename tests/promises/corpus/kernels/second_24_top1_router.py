"""Top-1 routing of a mixture of experts: the expert of each token and its probability."""

import torch
import triton
import triton.language as tl


@triton.jit
def top1_gating_kernel(
    logits_ptr, weight_ptr, expert_ptr, num_tokens, num_experts,
    BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr,
):
    tokens = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    experts = tl.arange(0, BLOCK_E)
    live = tokens < num_tokens
    mask = live[:, None] & (experts[None, :] < num_experts)
    logits = tl.load(
        logits_ptr + tokens[:, None] * num_experts + experts[None, :], mask=mask, other=float("-inf")
    )
    logits = tl.where(live[:, None], logits, 0.0)          # keep idle rows free of nan
    top = tl.max(logits, axis=1)
    which = tl.argmax(logits, axis=1)
    denominator = tl.sum(tl.exp(logits - top[:, None]), axis=1)
    tl.store(weight_ptr + tokens, 1.0 / denominator, mask=live)
    tl.store(expert_ptr + tokens, which.to(tl.int32), mask=live)


def launch(T=21, E=12):
    logits = torch.randn(T, E, device="cuda")
    weight = torch.empty(T, device="cuda")
    expert = torch.empty(T, dtype=torch.int32, device="cuda")
    top1_gating_kernel[(triton.cdiv(T, 8),)](
        logits, weight, expert, T, E, BLOCK_T=8, BLOCK_E=triton.next_power_of_2(E)
    )
    return weight, expert


def reference(logits):
    probs = torch.softmax(logits, dim=-1)
    weight, expert = probs.max(dim=-1)
    return weight, expert.to(torch.int32)


TRUTH = "verified"
