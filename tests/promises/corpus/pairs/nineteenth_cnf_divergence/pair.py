"""Continuous normalising flow: velocity and minus its divergence, for the change of log-density."""
import torch
from torch import nn
from torch.func import jacrev, vmap


class AutogradField(nn.Module):
    def __init__(self, dim=3, hidden=7):
        super().__init__()
        self.first = nn.Linear(dim + 1, hidden)
        self.second = nn.Linear(hidden, dim)

    def velocity(self, t, z):
        return self.second(torch.tanh(self.first(torch.cat([z, t.expand(1)]))))

    def forward(self, t, z):
        dz = vmap(lambda row: self.velocity(t, row))(z)
        jacobian = vmap(jacrev(lambda row: self.velocity(t, row)))(z)
        return dz, -torch.einsum("bii->b", jacobian)


class ClosedField(nn.Module):
    def __init__(self, dim=3, hidden=7):
        super().__init__()
        self.dim = dim
        self.first = nn.Linear(dim + 1, hidden)
        self.second = nn.Linear(hidden, dim)

    def forward(self, t, z):
        w = self.first.weight
        h = (z @ w[:, : self.dim].T + t * w[:, self.dim] + self.first.bias).tanh()
        overlap = (w[:, : self.dim] * self.second.weight.T).sum(1)
        return self.second(h), (h.square() - 1) @ overlap


def inputs():
    return torch.rand(()), torch.randn(4, 3)
