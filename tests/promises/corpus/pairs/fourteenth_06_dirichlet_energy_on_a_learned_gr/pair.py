"""Graph smoothness (Dirichlet energy) of features on a learned graph: trace(X' L X), and the sum over pairs."""
import torch
from torch import nn


class left(nn.Module):
    def __init__(self, nodes=6, rank=3):
        super().__init__()
        self.embed = nn.Parameter(torch.randn(nodes, rank))

    def forward(self, x):
        a = torch.relu(self.embed @ self.embed.T)
        lap = torch.diag(a.sum(1)) - a
        energy = torch.einsum("bnf,nm,bmf->b", x, lap, x)
        return {"smooth": energy.mean(), "degree": a.sum(1)}


class right(nn.Module):
    def __init__(self, nodes=6, rank=3):
        super().__init__()
        self.embed = nn.Parameter(torch.randn(nodes, rank))

    def forward(self, x):
        a = (self.embed[:, None] * self.embed[None]).sum(-1).clamp(min=0)
        gap = (x[:, :, None] - x[:, None]).pow(2).sum(-1)
        return {"smooth": 0.5 * (a * gap).sum((1, 2)).mean(), "degree": a.sum(0)}


def inputs():
    return (torch.randn(2, 6, 4),)
