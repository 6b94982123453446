# Second-order factorization machine, feature fields over ranks:
# sum_{i<j} <v_i, v_j> x_i x_j = ((sum v x)^2 - sum (v x)^2) / 2
import torch
import torch.distributed as dist
from torch import nn


class FM(nn.Module):
    def __init__(self, features=12, k=4):
        super().__init__()
        self.w = nn.Parameter(torch.randn(features) * 0.3)
        self.v = nn.Parameter(torch.randn(features, k) * 0.3)
        self.bias = nn.Parameter(torch.randn(()))

    def forward(self, x):
        s = x @ self.v
        pair = 0.5 * (s.square().sum(-1) - (x.square() @ self.v.square()).sum(-1))
        return torch.sigmoid(self.bias + x @ self.w + pair)


class FieldParallelFM(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        fm = FM()
        self.w = nn.Parameter(fm.w.data.chunk(world_size)[rank].clone())
        self.v = nn.Parameter(fm.v.data.chunk(world_size)[rank].clone())
        self.bias = fm.bias

    def forward(self, x):
        s = x @ self.v
        pair = 0.5 * (s.square().sum(-1) - (x.square() @ self.v.square()).sum(-1))
        logit = x @ self.w + pair
        dist.all_reduce(logit)
        return torch.sigmoid(self.bias + logit)


sequential = FM


def distributed(rank, world_size):
    return FieldParallelFM(rank, world_size)


def inputs():
    return (torch.randn(5, 12),)


world_size = 3
relations = {"x": "shard(1)"}
TRUTH = "differs"
