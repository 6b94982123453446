# DIFFERENT.
"""Gemma-2 style logit soft-capping. DIFFERENT: cap then mask vs mask then cap (masked scores become -cap and leak)."""
import torch

CAP = 20.0


def left(q, k, v):
    s = torch.einsum("bhid,bhjd->bhij", q, k) * (q.shape[-1] ** -0.5)
    s = CAP * torch.tanh(s / CAP)
    s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    return s.softmax(-1) @ v


def right(q, k, v):
    s = torch.einsum("bhid,bhjd->bhij", q, k) * (q.shape[-1] ** -0.5)
    s = s.masked_fill(torch.ones(s.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    s = CAP * torch.tanh(s / CAP)
    return s.softmax(-1) @ v


inputs = tuple(torch.randn(1, 3, 6, 4) for _ in range(3))
