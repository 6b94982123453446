"""Nucleus sampling as in Transformers: temperature, top-k, then top-p; returns the probabilities."""
import torch

TEMPERATURE, TOP_K, TOP_P = 0.8, 6, 0.7


def warpers(logits):
    logits = logits / TEMPERATURE
    kth = torch.topk(logits, TOP_K)[0][..., -1, None]
    logits = logits.masked_fill(logits < kth, float("-inf"))
    ascending, order = torch.sort(logits, descending=False)
    cumulative = ascending.softmax(dim=-1).cumsum(dim=-1)
    remove = cumulative <= 1 - TOP_P
    remove[..., -1:] = False
    remove = remove.scatter(1, order, remove)
    return logits.masked_fill(remove, float("-inf")).softmax(-1)


def inputs():
    return (2 * torch.randn(3, 12),)
