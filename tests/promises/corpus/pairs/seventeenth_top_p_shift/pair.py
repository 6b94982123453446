"""Top-p sampling: the warper of Transformers (ascending), and our descending one."""
import torch
from torch.nn import functional as F

TOP_P, TEMPERATURE = 0.8, 0.9
B, VOCAB = 3, 16


def left(logits):
    scores = logits / TEMPERATURE
    sorted_logits, sorted_indices = torch.sort(scores, descending=False)
    cumulative_probs = sorted_logits.softmax(dim=-1).cumsum(dim=-1)
    sorted_to_remove = cumulative_probs <= (1 - TOP_P)
    sorted_to_remove[..., -1:] = False
    to_remove = sorted_to_remove.scatter(1, sorted_indices, sorted_to_remove)
    return F.softmax(scores.masked_fill(to_remove, -float("inf")), dim=-1)


def right(logits):
    scores = logits / TEMPERATURE
    ordered, order = torch.sort(scores, dim=-1, descending=True)
    mass = ordered.softmax(-1).cumsum(-1)
    drop = mass > TOP_P
    drop[..., :1] = False
    ordered = ordered.masked_fill(drop, -float("inf"))
    scores = torch.full_like(scores, -float("inf")).scatter(-1, order, ordered)
    return torch.softmax(scores, dim=-1)


def inputs():
    return (1.5 * torch.randn(B, VOCAB),)
