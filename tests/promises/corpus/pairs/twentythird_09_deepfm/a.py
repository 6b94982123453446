"""DeepFM for click-through rates: one pair of tables for each categorical field, pairwise interactions written out."""
import torch
from torch import nn

FIELDS, SIZE, DENSE = (7, 5, 11), 4, 2


class DeepFM(nn.Module):
    def __init__(self):
        super().__init__()
        self.first_order = nn.ModuleList([nn.Embedding(n, 1) for n in FIELDS])
        self.second_order = nn.ModuleList([nn.Embedding(n, SIZE) for n in FIELDS])
        self.dense_linear = nn.Linear(DENSE, 1)
        self.dense_factors = nn.Parameter(torch.randn(DENSE, SIZE))
        width = (len(FIELDS) + DENSE) * SIZE
        self.deep = nn.Sequential(nn.Linear(width, 10), nn.ReLU(), nn.Linear(10, 6), nn.ReLU(), nn.Linear(6, 1))

    def forward(self, categories, numbers):
        linear = self.dense_linear(numbers)
        for i, table in enumerate(self.first_order):
            linear = linear + table(categories[:, i])
        vectors = [table(categories[:, i]) for i, table in enumerate(self.second_order)]
        vectors += [numbers[:, i : i + 1] * self.dense_factors[i] for i in range(DENSE)]
        interaction = 0
        for i in range(len(vectors)):
            for j in range(i + 1, len(vectors)):
                interaction = interaction + (vectors[i] * vectors[j]).sum(-1, keepdim=True)
        deep = self.deep(torch.cat(vectors, dim=-1))
        return torch.sigmoid(linear + interaction + deep).squeeze(-1)


def inputs():
    categories = torch.stack([torch.randint(0, n, (6,)) for n in FIELDS], dim=1)
    return categories, torch.randn(6, DENSE)
