"""Biaffine arc-label scorer of a dependency parser (Dozat and Manning)."""
import torch
from torch import nn
from torch.nn import functional as F


class Biaffine(nn.Module):
    def __init__(self, hidden=8, mlp=5, labels=4):
        super().__init__()
        self.dep = nn.Linear(hidden, mlp)
        self.head = nn.Linear(hidden, mlp)
        self.weight = nn.Parameter(torch.randn(labels, mlp + 1, mlp + 1))

    def forward(self, h):
        d = F.leaky_relu(self.dep(h), 0.1)
        g = F.leaky_relu(self.head(h), 0.1)
        d = torch.cat((d, torch.ones_like(d[..., :1])), -1)
        g = torch.cat((g, torch.ones_like(g[..., :1])), -1)
        return torch.einsum("bxi,oij,byj->boxy", d, self.weight, g)


class BiaffineInPieces(nn.Module):
    def __init__(self, ref):
        super().__init__()
        w = ref.weight.detach()
        self.mlps = nn.Linear(8, 10)
        self.mlps.weight.data = torch.cat([ref.dep.weight.data, ref.head.weight.data])
        self.mlps.bias.data = torch.cat([ref.dep.bias.data, ref.head.bias.data])
        self.bilinear = nn.Parameter(w[:, :-1, :-1].clone())
        self.dep_term = nn.Parameter(w[:, :-1, -1].clone())
        self.head_term = nn.Parameter(w[:, -1, :-1].clone())
        self.constant = nn.Parameter(w[:, -1, -1].clone())

    def forward(self, h):
        z = self.mlps(h)
        d, g = torch.where(z >= 0, z, 0.1 * z).split(5, dim=-1)
        scores = (d.unsqueeze(1) @ self.bilinear) @ g.unsqueeze(1).transpose(-1, -2)
        scores = scores + (d @ self.dep_term.T).permute(0, 2, 1).unsqueeze(-1)
        scores = scores + (g @ self.head_term.T).permute(0, 2, 1).unsqueeze(-2)
        return scores + self.constant[:, None, None]


torch.manual_seed(20)
left = Biaffine()
right = BiaffineInPieces(left)
inputs = (torch.randn(3, 6, 8),)
