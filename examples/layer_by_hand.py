"""A layer of a library, and a port of it by hand: its weight transposed, its norm and activation spelled out.

    samesame check layer_by_hand.py:Library layer_by_hand.py:Port --inputs layer_by_hand.py:inputs
"""

import torch
from torch import nn
from torch.nn import functional as F


class Library(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(8), nn.Linear(8, 4)

    def forward(self, x):
        return self.out(F.silu(self.norm(x)))


class Port(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Library()
        self.scale, self.shift = theirs.norm.weight, theirs.norm.bias
        self.weight = nn.Parameter(theirs.out.weight.detach().T.contiguous())
        self.bias = theirs.out.bias

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        y = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + 1e-5) * self.scale + self.shift
        return (y * torch.sigmoid(y)) @ self.weight + self.bias


def inputs():
    return (torch.randn(3, 5, 8),)
