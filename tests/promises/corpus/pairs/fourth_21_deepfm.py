# EQUAL
"""DeepFM for click-through: pairwise interactions by the square of the sum, and pair by pair as Rendle writes them."""
from itertools import combinations

import numpy as np
import torch
from torch import nn

torch.manual_seed(21)
FIELDS = [5, 7, 3, 4]


class DeepFM(nn.Module):
    def __init__(self, field_dims=FIELDS, embed_dim=6):
        super().__init__()
        self.offsets = np.array((0, *np.cumsum(field_dims)[:-1]), dtype=np.int64)
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        self.fc = nn.Embedding(sum(field_dims), 1)
        self.bias = nn.Parameter(torch.randn(1))
        width = len(field_dims) * embed_dim
        self.mlp = nn.Sequential(nn.Linear(width, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))

    def forward(self, x):
        x = x + x.new_tensor(self.offsets).unsqueeze(0)
        e = self.embedding(x)
        square_of_sum = torch.sum(e, dim=1) ** 2
        sum_of_square = torch.sum(e ** 2, dim=1)
        fm = 0.5 * torch.sum(square_of_sum - sum_of_square, dim=1, keepdim=True)
        linear = torch.sum(self.fc(x), dim=1) + self.bias
        return torch.sigmoid((linear + fm + self.mlp(e.flatten(1))).squeeze(1))


class FieldTables(nn.Module):
    """One table for each field, as the feature store serves them; the linear weight is the last column."""

    def __init__(self, net):
        super().__init__()
        both = torch.cat([net.embedding.weight, net.fc.weight], 1).detach()
        self.tables = nn.ParameterList(nn.Parameter(t.clone()) for t in both.split(FIELDS))
        self.bias = nn.Parameter(net.bias.detach().clone())
        self.mlp = net.mlp

    def forward(self, x):
        rows = [table[x[:, f]] for f, table in enumerate(self.tables)]
        logit = self.bias + sum(r[:, -1] for r in rows)
        es = [r[:, :-1] for r in rows]
        for a, b in combinations(es, 2):
            logit = logit + (a * b).sum(-1)
        logit = logit + self.mlp(torch.cat(es, 1))[:, 0]
        return logit.sigmoid()


left = DeepFM()
left.mlp[1].running_mean.normal_()
left.mlp[1].running_var.uniform_(0.5, 2)
left.eval()
right = FieldTables(left).eval()
inputs = (torch.stack([torch.randint(0, n, (6,)) for n in FIELDS], 1),)
