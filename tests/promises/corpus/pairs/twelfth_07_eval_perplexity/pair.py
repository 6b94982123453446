"""Perplexity of a padded batch in an evaluation loop."""
import torch
from torch.nn import functional as F


def left(logits, labels):
    vocab = logits.shape[-1]
    nll = F.cross_entropy(logits[:, :-1].reshape(-1, vocab), labels[:, 1:].reshape(-1), ignore_index=-100, reduction="sum")
    count = (labels[:, 1:] != -100).sum()
    return torch.exp(nll / count)


def right(logits, labels):
    logp = F.log_softmax(logits[:, :-1], dim=-1)
    target = labels[:, 1:]
    keep = target != -100
    nll = -logp.gather(-1, target.clamp(min=0).unsqueeze(-1)).squeeze(-1) * keep
    per_sequence = nll.sum(dim=1) / keep.sum(dim=1)
    return torch.exp(per_sequence.mean())


def inputs():
    labels = torch.randint(0, 9, (3, 8))
    labels[0, 5:] = -100
    labels[2, 3:] = -100
    return torch.randn(3, 8, 9), labels
