import math

import torch
from torch import nn

from left import Left


class Heads(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        heads, dim = theirs.num_heads, theirs.embed_dim
        self.weight = nn.Parameter(theirs.in_proj_weight.detach().view(3, heads, dim // heads, dim))
        self.bias = nn.Parameter(theirs.in_proj_bias.detach().view(3, heads, dim // heads))
        self.out_weight = nn.Parameter(theirs.out_proj.weight.detach().view(dim, heads, dim // heads))
        self.out_bias = theirs.out_proj.bias

    def forward(self, x, axis):
        q, k, v = torch.einsum("bhwc,snec->sbhwne", x, self.weight) + self.bias[:, None, None, None]
        if axis == "row":
            scores = torch.einsum("bhine,bhjne->bhnij", q, k)
            y = torch.einsum("bhnij,bhjne->bhine", (scores / math.sqrt(q.shape[-1])).softmax(-1), v)
        else:
            scores = torch.einsum("biwne,bjwne->bwnij", q, k)
            y = torch.einsum("bwnij,bjwne->biwne", (scores / math.sqrt(q.shape[-1])).softmax(-1), v)
        return torch.einsum("bhwne,one->bhwo", y, self.out_weight) + self.out_bias


class Right(nn.Module):
    def __init__(self, dim=8, heads=2):
        super().__init__()
        theirs = Left(dim, heads)
        self.norm, self.row, self.column = theirs.norm, Heads(theirs.row), Heads(theirs.column)

    def forward(self, x):
        x = x + self.row(self.norm(x), "row")
        return x + self.column(self.norm(x), "column")


def inputs():
    return (torch.randn(2, 3, 4, 8),)
