import itertools

import torch
from torch import nn

FIELDS = (5, 3, 7, 4)
DIM = 6


class SumSquare(nn.Module):
    """The linear-time trick of the FM paper, over one table with offsets."""

    def __init__(self):
        super().__init__()
        total = sum(FIELDS)
        self.embedding = nn.Embedding(total, DIM)
        self.first = nn.Embedding(total, 1)
        self.bias = nn.Parameter(torch.randn(1))

    def forward(self, ids):
        offsets = torch.tensor([0, *itertools.accumulate(FIELDS[:-1])])
        ids = ids + offsets
        v = self.embedding(ids)
        square_of_sum = v.sum(dim=1) ** 2
        sum_of_square = (v ** 2).sum(dim=1)
        second = 0.5 * (square_of_sum - sum_of_square).sum(dim=1, keepdim=True)
        return torch.sigmoid(self.bias + self.first(ids).sum(dim=1) + second).squeeze(1)


class Pairs(nn.Module):
    """One table per field, and an inner product per pair of fields."""

    def __init__(self):
        super().__init__()
        theirs = SumSquare()
        parts = theirs.embedding.weight.detach().split(FIELDS)
        firsts = theirs.first.weight.detach().split(FIELDS)
        self.tables = nn.ParameterList([nn.Parameter(p.clone()) for p in parts])
        self.linear = nn.ParameterList([nn.Parameter(p[:, 0].clone()) for p in firsts])
        self.bias = theirs.bias

    def forward(self, ids):
        rows = [table[ids[:, f]] for f, table in enumerate(self.tables)]
        logit = self.bias
        for f, w in enumerate(self.linear):
            logit = logit + w[ids[:, f]]
        for left, right in itertools.combinations(rows, 2):
            logit = logit + torch.einsum("bd,bd->b", left, right)
        return 1 / (1 + torch.exp(-logit))


def example(B=4):
    return (torch.stack([torch.randint(0, n, (B,)) for n in FIELDS], dim=1),)


def inputs():
    return example()
