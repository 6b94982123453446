"""DeepFM: second-order interactions of field embeddings, plus the linear term."""
import torch
from torch import nn

FIELDS = [7, 5, 9, 4]


class NaiveFM(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, dim) for n in FIELDS)
        self.linear = nn.ModuleList(nn.Embedding(n, 1) for n in FIELDS)
        self.bias = nn.Parameter(torch.randn(1))

    def forward(self, ids):
        e = [t(ids[:, f]) for f, t in enumerate(self.tables)]
        y = self.bias + sum(t(ids[:, f]).squeeze(-1) for f, t in enumerate(self.linear))
        for i in range(len(e)):
            for j in range(i + 1, len(e)):
                y = y + (e[i] * e[j]).sum(-1)
        return torch.sigmoid(y)


class OneTableFM(nn.Module):
    """All fields in one table with offsets, the interaction in linear time."""

    def __init__(self, theirs):
        super().__init__()
        self.register_buffer("offsets", torch.tensor([0, *FIELDS[:-1]]).cumsum(0))
        self.table = nn.Embedding.from_pretrained(torch.cat([t.weight.detach() for t in theirs.tables]), freeze=False)
        self.first = nn.Embedding.from_pretrained(torch.cat([t.weight.detach() for t in theirs.linear]), freeze=False)
        self.bias = nn.Parameter(theirs.bias.detach().clone())

    def forward(self, ids):
        ids = ids + self.offsets
        e = self.table(ids)
        square_of_sum = e.sum(1).pow(2)
        sum_of_square = e.pow(2).sum(1)
        second = 0.5 * (square_of_sum - sum_of_square).sum(1)
        return torch.sigmoid(self.first(ids).sum((1, 2)) + second + self.bias)


left = NaiveFM()
right = OneTableFM(left)


def inputs():
    return (torch.stack([torch.randint(0, n, (6,)) for n in FIELDS], 1),)
