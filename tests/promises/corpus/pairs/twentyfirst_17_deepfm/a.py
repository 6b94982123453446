"""DeepFM: a table for each field, factorisation machine by pairs, and a deep tower."""
import torch
from torch import nn

FIELDS = (5, 7, 4)


class DeepFM(nn.Module):
    def __init__(self, dim=4, hidden=8):
        super().__init__()
        self.first = nn.ModuleList([nn.Embedding(n, 1) for n in FIELDS])
        self.second = nn.ModuleList([nn.Embedding(n, dim) for n in FIELDS])
        self.deep = nn.Sequential(nn.Linear(len(FIELDS) * dim, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.bias = nn.Parameter(torch.randn(1))

    def forward(self, ids):
        linear = sum(e(ids[:, i]) for i, e in enumerate(self.first))
        vectors = [e(ids[:, i]) for i, e in enumerate(self.second)]
        fm = 0
        for i in range(len(vectors)):
            for j in range(i + 1, len(vectors)):
                fm = fm + (vectors[i] * vectors[j]).sum(dim=1, keepdim=True)
        deep = self.deep(torch.cat(vectors, dim=1))
        logit = linear + fm + deep + self.bias
        return torch.sigmoid(logit.squeeze(1))


def inputs():
    return (torch.stack([torch.randint(0, n, (6,)) for n in FIELDS], dim=1),)
