"""Maxout layer: one linear with interleaved pieces, and one linear per piece with an elementwise maximum."""
import torch
from torch import nn


class left(nn.Module):
    def __init__(self, d_in=5, d_out=4, pieces=3):
        super().__init__()
        self.pieces = pieces
        self.lin = nn.Linear(d_in, d_out * pieces)
        self.out = nn.Linear(d_out, 2)

    def forward(self, x):
        z = self.lin(x)
        z = z.view(*z.shape[:-1], -1, self.pieces).max(dim=-1).values
        return self.out(z)


class right(nn.Module):
    def __init__(self, d_in=5, d_out=4, pieces=3):
        super().__init__()
        ref = left(d_in, d_out, pieces)
        self.w = nn.ParameterList([nn.Parameter(ref.lin.weight.detach()[i::pieces].T.clone()) for i in range(pieces)])
        self.b = nn.ParameterList([nn.Parameter(ref.lin.bias.detach()[i::pieces].clone()) for i in range(pieces)])
        self.out = ref.out

    def forward(self, x):
        best = x @ self.w[0] + self.b[0]
        for w, b in zip(self.w[1:], self.b[1:]):
            best = torch.maximum(best, x @ w + b)
        return self.out(best)


def inputs():
    return (torch.randn(7, 5),)
