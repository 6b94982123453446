"""Attention in which two query heads share a key and value head, with the shared heads repeated or not. The same.

    samesame check examples/pairs/grouped_heads.py

Replace `repeat_interleave(2, dim=1)` by `repeat(1, 2, 1, 1)`, which repeats the heads in another order: it is found.
"""

import torch


def left(q, k, v):
    """Every query head gets its own copy of the key and value head it reads."""
    k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return scores.softmax(-1) @ v


def right(q, k, v):
    """Query heads in groups, contracted with the one head they share; nothing is copied."""
    groups = q.unflatten(1, (k.shape[1], 2))
    scores = torch.einsum("bkgtd,bksd->bkgts", groups, k) * q.shape[-1] ** -0.5
    return torch.einsum("bkgts,bksd->bkgtd", scores.softmax(-1), v).flatten(1, 2)


def inputs():
    """Queries [batch, heads, time, size]; keys and values [batch, key heads, source, size]."""
    return torch.randn(1, 6, 5, 11), torch.randn(1, 3, 7, 11), torch.randn(1, 3, 7, 11)
