# EQUAL.
"""Macro recall and per-class mean score: confusion matrix by scatter_add/bincount-like sums vs one-hot matmuls. EQUAL."""
import torch
import torch.nn.functional as F

C = 4


def left(logits, target):
    pred = logits.argmax(1)
    conf = torch.zeros(C * C, dtype=logits.dtype).index_add(0, target * C + pred, torch.ones_like(pred, dtype=logits.dtype))
    conf = conf.view(C, C)
    recall = conf.diag() / conf.sum(1).clamp(min=1)
    sums = torch.zeros(C, dtype=logits.dtype).scatter_add(0, target, logits.logsumexp(1))
    return recall.mean(), sums / conf.sum(1).clamp(min=1)


def right(logits, target):
    t = F.one_hot(target, C).to(logits.dtype)
    p = F.one_hot(logits.max(1).indices, C).to(logits.dtype)
    hits, support = (t * p).sum(0), t.sum(0).clamp_min(1)
    return (hits / support).sum() / C, (t.T @ torch.logsumexp(logits, 1)) / support


inputs = (torch.randn(12, C), torch.randint(0, C, (12,)))
