# EQUAL
import itertools

import torch
from torch import nn

FIELDS = [5, 3, 7, 4]


class FMPairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Embedding(sum(FIELDS), 1)
        self.factors = nn.Embedding(sum(FIELDS), 6)
        self.bias = nn.Parameter(torch.tensor([0.3]))
        self.register_buffer("offsets", torch.tensor([0, *itertools.accumulate(FIELDS[:-1])]))

    def forward(self, fields):
        ids = fields + self.offsets
        v = self.factors(ids)
        total = self.bias + self.linear(ids).sum(1).squeeze(-1)
        for i, j in itertools.combinations(range(len(FIELDS)), 2):
            total = total + (v[:, i] * v[:, j]).sum(-1)
        return torch.sigmoid(total)


class FMFast(nn.Module):
    def __init__(self, slow):
        super().__init__()
        # one table, the last column is the linear term
        self.table = nn.Parameter(torch.cat([slow.factors.weight, slow.linear.weight], dim=1).detach())
        self.w0 = nn.Parameter(slow.bias.detach().clone())

    def forward(self, fields):
        starts = [0, 5, 8, 15]
        rows = torch.stack([self.table[fields[:, f] + s] for f, s in enumerate(starts)], dim=1)
        v, w = rows[..., :-1], rows[..., -1]
        square_of_sum = v.sum(dim=1) ** 2
        sum_of_square = (v ** 2).sum(dim=1)
        pair = 0.5 * (square_of_sum - sum_of_square).sum(dim=1)
        return torch.sigmoid(self.w0 + w.sum(1) + pair)


torch.manual_seed(101)
left = FMPairs()
right = FMFast(left)


def inputs():
    torch.manual_seed(102)
    return (torch.stack([torch.randint(0, n, (5,)) for n in FIELDS], dim=1),)
