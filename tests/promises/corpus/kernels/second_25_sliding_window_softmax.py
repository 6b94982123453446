"""Softmax of attention scores, causal, over the last WINDOW keys (the query's own among them)."""

import torch
import triton
import triton.language as tl

WINDOW = 4


@triton.jit
def window_softmax_kernel(s_ptr, p_ptr, T, scale, WINDOW: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    head = tl.program_id(1)
    cols = tl.arange(0, BLOCK)
    inside = cols < T
    visible = inside & (cols <= row) & (row - cols <= WINDOW)
    base = head * T * T + row * T
    s = tl.load(s_ptr + base + cols, mask=visible, other=-float("inf")) * scale
    e = tl.exp(s - tl.max(s, axis=0))
    tl.store(p_ptr + base + cols, e / tl.sum(e, axis=0), mask=inside)


def launch(H=3, T=19):
    scores = torch.randn(H, T, T, device="cuda")
    probs = torch.empty_like(scores)
    window_softmax_kernel[(T, H)](scores, probs, T, 0.125, WINDOW=WINDOW, BLOCK=triton.next_power_of_2(T))
    return probs


def reference(scores):
    T = scores.shape[-1]
    q = torch.arange(T, device=scores.device)[:, None]
    k = torch.arange(T, device=scores.device)[None, :]
    visible = (k <= q) & (k > q - WINDOW)
    return torch.softmax((scores * 0.125).masked_fill(~visible, float("-inf")), dim=-1)


TRUTH = "different"
