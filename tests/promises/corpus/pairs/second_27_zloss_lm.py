# EQUAL.
"""Shifted LM loss with z-loss, over the whole sequence vs in chunks of tokens (memory-saving head). EQUAL."""
import torch
from torch import nn
import torch.nn.functional as F

Z = 1e-4


class Full(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 29, bias=False)

    def forward(self, hidden, labels):
        logits = self.head(hidden)
        shift_logits = logits[..., :-1, :].contiguous().view(-1, 29)
        shift_labels = labels[..., 1:].contiguous().view(-1)
        ce = F.cross_entropy(shift_logits, shift_labels)
        return ce + Z * torch.logsumexp(shift_logits, -1).pow(2).mean()


class Chunked(nn.Module):
    def __init__(self, full):
        super().__init__()
        self.w = nn.Parameter(full.head.weight.data.clone())

    def forward(self, hidden, labels):
        h = hidden[:, :-1].flatten(0, 1)
        y = labels[:, 1:].flatten()
        nll = zz = 0.0
        for hc, yc in zip(h.split(4), y.split(4)):
            lg = hc @ self.w.T
            lse = lg.logsumexp(-1)
            nll = nll + (lse - lg.gather(1, yc[:, None]).squeeze(1)).sum()
            zz = zz + (lse ** 2).sum()
        n = y.numel()
        return (nll + Z * zz) / n


left = Full()
right = Chunked(left)
inputs = {"hidden": torch.randn(2, 6, 8), "labels": torch.randint(0, 29, (2, 6))}
