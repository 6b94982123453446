import torch


def program(logits):
    """The probabilities themselves are sorted, from small to large, and filtered."""
    p = torch.softmax(logits / 0.7, dim=-1)
    ascending, order = p.sort(dim=-1)
    largest = torch.arange(p.shape[-1]) == p.shape[-1] - 1
    tail = 1 - ascending.cumsum(dim=-1) + ascending
    keep = (tail <= 0.8) | largest
    kept = torch.zeros_like(p).scatter(-1, order, torch.where(keep, ascending, 0.0))
    return kept / kept.sum(dim=-1, keepdim=True)
