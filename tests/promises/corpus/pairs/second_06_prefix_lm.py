# DIFFERENT.
"""Prefix-LM mask. DIFFERENT: the rewrite lets the prefix run one token too far (<= instead of <), which shows in the
rows inside the prefix only."""
import torch
import torch.nn.functional as F

PREFIX = 3


def left(q, k, v):
    T = q.shape[-2]
    idx = torch.arange(T)
    mask = (idx[None, :] <= idx[:, None]) | (idx[None, :] < PREFIX)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def right(q, k, v):
    T = q.shape[-2]
    idx = torch.arange(T)
    limit = torch.maximum(idx, torch.full_like(idx, PREFIX))
    bias = torch.zeros(T, T, dtype=q.dtype).masked_fill(idx[None] > limit[:, None], float("-inf"))
    return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias, -1) @ v


inputs = (torch.randn(2, 2, 8, 6), torch.randn(2, 2, 8, 6), torch.randn(2, 2, 8, 6))
