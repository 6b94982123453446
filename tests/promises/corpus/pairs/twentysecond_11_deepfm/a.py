"""DeepFM: one table for all fields with offsets, second-order terms by the square-of-sums trick."""

import torch
from torch import nn
from torch.nn import functional as F

FIELDS = (7, 5, 11, 6)


class DeepFM(nn.Module):
    def __init__(self, fields=FIELDS, dim=4, hidden=9):
        super().__init__()
        total = sum(fields)
        self.register_buffer("offsets", torch.tensor([0, *fields[:-1]]).cumsum(0))
        self.linear = nn.Embedding(total, 1)
        self.bias = nn.Parameter(torch.randn(1))
        self.embedding = nn.Embedding(total, dim)
        self.mlp = nn.Sequential(
            nn.Linear(len(fields) * dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def forward(self, x):
        """x [B, fields]: an index within each field."""
        x = x + self.offsets
        first = self.linear(x).sum(1) + self.bias
        e = self.embedding(x)                                             # [B, F, dim]
        square_of_sum = e.sum(1) ** 2
        sum_of_square = (e**2).sum(1)
        second = 0.5 * (square_of_sum - sum_of_square).sum(1, keepdim=True)
        deep = self.mlp(e.flatten(1))
        return torch.sigmoid((first + second + deep).squeeze(1))


def inputs():
    return (torch.stack([torch.randint(0, n, (9,)) for n in FIELDS], 1),)
