import torch
from torch.nn import functional as F


def top_p(logits, p=0.8):
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
    remove = cumulative > p
    remove = torch.cat([torch.zeros_like(remove[..., :1]), remove[..., :-1]], dim=-1)
    remove = remove.scatter(1, sorted_indices, remove)
    return logits.masked_fill(remove, float("-inf"))


def inputs():
    return (torch.randn(3, 12),)
