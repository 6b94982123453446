"""Router: softmax over experts, the best expert and its probability."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def top1_gating(logits, weights, ids, num_tokens, E, BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    e = tl.arange(0, BLOCK_E)
    mask = (t < num_tokens)[:, None] & (e < E)[None, :]
    x = tl.load(logits + t[:, None] * E + e[None, :], mask=mask, other=float("-inf")).to(tl.float32)
    x = tl.where((t < num_tokens)[:, None], x, 0.0)
    top, which = tl.max(x, axis=1, return_indices=True)
    denom = tl.sum(tl.exp(x - top[:, None]), axis=1)
    tl.store(weights + t, 1.0 / denom, mask=t < num_tokens)
    tl.store(ids + t, which, mask=t < num_tokens)


def launch(logits):
    T, E = logits.shape
    weights = torch.empty(T, dtype=torch.float32)
    ids = torch.empty(T, dtype=torch.int32)
    top1_gating[(triton.cdiv(T, 8),)](logits, weights, ids, T, E, BLOCK_T=8, BLOCK_E=triton.next_power_of_2(E))
    return weights, ids


def reference(logits):
    p = logits.float().softmax(dim=-1)
    weights, ids = p.max(dim=-1)
    return weights, ids.to(torch.int32)


def inputs(T=19, E=6):
    return (torch.randn(T, E),)
