"""Sentence embeddings from the last token of a decoder."""
import torch
import torch.nn.functional as F


def left(hidden, attention_mask):
    positions = torch.arange(hidden.shape[1])
    last = (positions * attention_mask).argmax(dim=1)
    pooled = hidden[torch.arange(hidden.shape[0]), last]
    return F.normalize(pooled, p=2, dim=-1)


def right(hidden, attention_mask):
    last = attention_mask.sum(dim=1) - 1
    pooled = hidden.gather(1, last[:, None, None].expand(-1, 1, hidden.shape[-1])).squeeze(1)
    return F.normalize(pooled, p=2, dim=-1)


inputs = (
    torch.randn(3, 6, 8),
    torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]]),
)
