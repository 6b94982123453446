"""Softmax over the keys of scaled attention scores with a boolean mask shared by the heads, as Megatron's fused kernel; right."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["SK"])})
@triton.jit
def scaled_masked_softmax_kernel(scores, mask_ptr, out, scale, H, SQ, SK, BLOCK: tl.constexpr):
    q = tl.program_id(0)
    bh = tl.program_id(1)
    b = bh // H
    cols = tl.arange(0, BLOCK)
    inside = cols < SK
    base = (bh * SQ + q) * SK
    x = tl.load(scores + base + cols, mask=inside, other=-float("inf")) * scale
    hidden = tl.load(mask_ptr + (b * SQ + q) * SK + cols, mask=inside, other=0)
    x = tl.where(hidden != 0, -10000.0, x)
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(out + base + cols, e / tl.sum(e, axis=0), mask=inside)


def launch(B=2, H=3, SQ=5, SK=40, scale=0.125):
    scores = torch.randn(B, H, SQ, SK)
    mask = torch.rand(B, 1, SQ, SK) < 0.3
    out = torch.empty_like(scores)
    scaled_masked_softmax_kernel[(SQ, B * H)](scores, mask, out, scale, H, SQ, SK)
    return out


def reference(scores, mask, scale=0.125):
    return torch.softmax((scores * scale).masked_fill(mask, -10000.0), dim=-1)
