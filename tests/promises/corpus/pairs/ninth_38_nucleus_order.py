# EQUAL
import torch

TOP_P = 0.75


def left(logits):
    # ascending: what lies in the first 1 - p of the mass goes
    ordered, index = torch.sort(logits, descending=False)
    cumulative = ordered.softmax(dim=-1).cumsum(dim=-1)
    remove = cumulative <= (1 - TOP_P)
    remove[..., -1:] = 0
    remove = remove.scatter(1, index, remove)
    return logits.masked_fill(remove, -float("inf")).softmax(-1)


def right(logits):
    # descending: a token stays as long as those before it hold less than p
    probs = torch.softmax(logits, -1)
    ordered, index = probs.sort(dim=-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    kept = torch.where(before < TOP_P, ordered, torch.zeros_like(ordered))
    kept = kept / kept.sum(-1, keepdim=True)
    return torch.zeros_like(probs).scatter_(-1, index, kept)


inputs = (torch.randn(3, 9, generator=torch.Generator().manual_seed(10)) * 2,)
