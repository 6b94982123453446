"""Scaled, causally masked softmax over scores (Megatron's scaled_upper_triang_masked_softmax)."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def scaled_causal_softmax(scores, probs, T, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = row % T
    j = tl.arange(0, BLOCK)
    keep = j < tl.maximum(i, 1)
    s = tl.load(scores + row * T + j, mask=j < T, other=0.0) * scale
    s = tl.where(keep, s, float("-inf"))
    p = tl.exp(s - tl.max(s, axis=0))
    p = p / tl.sum(p, axis=0)
    tl.store(probs + row * T + j, p, mask=j < T)


def launch(scores):
    B, T, _ = scores.shape
    probs = torch.empty_like(scores)
    scaled_causal_softmax[(B * T,)](scores, probs, T, 0.125, BLOCK=triton.next_power_of_2(T))
    return probs


def reference(scores):
    T = scores.shape[-1]
    mask = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
    return (scores * 0.125).masked_fill(mask, float("-inf")).softmax(dim=-1)


def inputs(B=3, T=21):
    return (torch.randn(B, T, T) * 4,)
