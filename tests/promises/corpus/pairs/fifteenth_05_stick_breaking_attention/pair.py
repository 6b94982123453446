"""Stick-breaking attention: the stick broken piece by piece, and in logarithms."""
import math

import torch
from torch import nn
from torch.nn import functional as F

HEADS, DIM = 2, 8


class Projections(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM, bias=False)
        self.out = nn.Linear(DIM, DIM)

    def split(self, x):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        return q, k, v


class Sequential(Projections):
    def forward(self, x):
        q, k, v = self.split(x)
        beta = torch.sigmoid(q @ k.transpose(-1, -2) / math.sqrt(DIM // HEADS))
        rows = []
        for i in range(x.shape[1]):
            left_over = torch.ones_like(v[..., 0, 0])
            row = torch.zeros_like(v[..., 0, :])
            for j in range(i - 1, -1, -1):
                piece = left_over * beta[..., i, j]
                row = row + piece[..., None] * v[..., j, :]
                left_over = left_over - piece
            rows.append(row)
        y = torch.stack(rows, dim=-2)
        return self.out(y.transpose(1, 2).flatten(2))


class Parallel(Projections):
    def forward(self, x):
        q, k, v = self.split(x)
        t = x.shape[1]
        z = torch.einsum("bhid,bhjd->bhij", q, k) * (DIM // HEADS) ** -0.5
        past = torch.ones(t, t, dtype=torch.bool).tril(-1)
        rest = (-F.softplus(z)).masked_fill(~past, 0.0)
        after = rest.flip(-1).cumsum(-1).flip(-1) - rest
        weights = torch.exp(F.logsigmoid(z) + after).masked_fill(~past, 0.0)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


def left():
    return Sequential()


def right():
    return Parallel()


def inputs():
    return (torch.randn(2, 6, DIM),)
