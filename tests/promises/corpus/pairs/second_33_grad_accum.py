# DIFFERENT.
"""Gradient accumulation over two micro batches of token losses. DIFFERENT: mean of means vs mean over all tokens that count
(the well known Trainer bug); the same only when both halves have equally many labels that count."""
import torch
import torch.nn.functional as F


def left(w, x, y):
    with torch.enable_grad():
        w = w.detach().clone().requires_grad_()
        F.cross_entropy((x @ w).flatten(0, 1), y.flatten(), ignore_index=-100).backward()
    return w.grad


def right(w, x, y):
    with torch.enable_grad():
        w = w.detach().clone().requires_grad_()
        for xb, yb in zip(x.chunk(2), y.chunk(2)):
            loss = F.cross_entropy((xb @ w).flatten(0, 1), yb.flatten(), ignore_index=-100)
            (loss / 2).backward()
    return w.grad


def inputs():
    y = torch.randint(0, 7, (4, 5))
    y[0, 2:] = -100
    y[1, 4:] = -100
    return torch.randn(6, 7), torch.randn(4, 5, 6), y
