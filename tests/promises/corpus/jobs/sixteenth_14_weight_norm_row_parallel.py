"""A tensor-parallel MLP with weight normalisation: the row-parallel layer divides by the norm of its own columns instead of the norm of the whole row."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class WeightNormLinear(nn.Module):
    """w = g * v / |v|, the norm taken over each output's inputs (Salimans & Kingma 2016)."""

    def __init__(self, v, g, bias):
        super().__init__()
        self.v, self.g = nn.Parameter(v), nn.Parameter(g)
        self.bias = nn.Parameter(bias)

    def weight(self):
        return self.g[:, None] * self.v / self.v.norm(dim=1, keepdim=True)

    def forward(self, x):
        return F.linear(x, self.weight(), self.bias)

    @classmethod
    def make(cls, n_in, n_out):
        return cls(torch.randn(n_out, n_in) / n_in ** 0.5, 0.5 + torch.rand(n_out), 0.1 * torch.randn(n_out))


class ColumnParallel(WeightNormLinear):
    @classmethod
    def cut(cls, full, rank, world):
        return cls(*(t.detach().chunk(world)[rank].clone() for t in (full.v, full.g, full.bias)))


class RowParallel(WeightNormLinear):
    @classmethod
    def cut(cls, full, rank, world):
        return cls(full.v.detach().chunk(world, dim=1)[rank].clone(), full.g.detach().clone(), full.bias.detach().clone())

    def forward(self, x):
        y = F.linear(x, self.weight())
        dist.all_reduce(y)
        return y + self.bias


class MLP(nn.Module):
    def __init__(self, fc1, fc2):
        super().__init__()
        self.fc1, self.fc2 = fc1, fc2

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)).square())


def sequential():
    return MLP(WeightNormLinear.make(10, 16), WeightNormLinear.make(16, 10))


def distributed(rank, world_size):
    full = sequential()
    return MLP(ColumnParallel.cut(full.fc1, rank, world_size), RowParallel.cut(full.fc2, rank, world_size))


def inputs():
    return torch.randn(3, 10)


world_size = 2

TRUTH = "differs"
