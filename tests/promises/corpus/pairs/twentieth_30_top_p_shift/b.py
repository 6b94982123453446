"""The same in sorted order from the largest down, put back at the end."""
import torch

TEMPERATURE, TOP_K, TOP_P = 0.8, 6, 0.7


def descending(logits):
    values, order = torch.sort(logits / TEMPERATURE, dim=-1, descending=True)
    rank = torch.arange(values.shape[-1])
    values = torch.where(rank < TOP_K, values, float("-inf"))
    p = values.softmax(-1)
    remove = p.cumsum(-1) > TOP_P
    remove[..., 0] = False
    p = p.masked_fill(remove, 0.0)
    p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, p)
