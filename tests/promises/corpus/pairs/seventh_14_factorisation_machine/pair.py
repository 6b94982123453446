from itertools import combinations

import torch
from torch import nn

torch.manual_seed(114)


class PairwiseFM(nn.Module):
    def __init__(self, features=12, k=3):
        super().__init__()
        self.w0 = nn.Parameter(torch.randn(1))
        self.w = nn.Embedding(features, 1)
        self.v = nn.Embedding(features, k)

    def forward(self, index, value):
        first = (self.w(index).squeeze(-1) * value).sum(dim=1)
        xs = self.v(index) * value.unsqueeze(-1)
        second = 0
        for i, j in combinations(range(xs.shape[1]), 2):
            second = second + (xs[:, i] * xs[:, j]).sum(dim=-1)
        return torch.sigmoid(self.w0 + first + second)


class FastFM(nn.Module):
    def __init__(self, features=12, k=3):
        super().__init__()
        self.bias = nn.Parameter(torch.empty(1))
        self.linear = nn.Embedding(features, 1)
        self.factors = nn.Embedding(features, k)

    def forward(self, index, value):
        first = torch.bmm(self.linear(index).transpose(1, 2), value.unsqueeze(-1)).flatten()
        x = self.factors(index)
        summed = torch.einsum("bf,bfk->bk", value, x)
        squares = torch.einsum("bf,bfk->bk", value ** 2, x ** 2)
        second = 0.5 * (summed ** 2 - squares).sum(dim=1)
        return (self.bias + first + second).sigmoid()


left = PairwiseFM()
right = FastFM()
s = left.state_dict()
right.load_state_dict({"bias": s["w0"], "linear.weight": s["w.weight"], "factors.weight": s["v.weight"]})
inputs = (torch.randint(0, 12, (3, 4)), torch.rand(3, 4) + 0.5)
