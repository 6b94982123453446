"""The pair that README shows: two linears and one that holds both. The same.

    samesame check pair.py
"""

import torch
from torch import nn


class Separate(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(8, 6), nn.Linear(8, 6)

    def forward(self, x):
        return self.q(x) * self.k(x)


class Fused(nn.Module):
    def __init__(self, separate):
        super().__init__()
        self.qk = nn.Linear(8, 12)
        self.qk.weight.data = torch.cat([separate.q.weight, separate.k.weight])
        self.qk.bias.data = torch.cat([separate.q.bias, separate.k.bias])

    def forward(self, x):
        q, k = self.qk(x).chunk(2, dim=-1)
        return q * k


left = Separate()
right = Fused(left)
inputs = (torch.randn(3, 8),)
