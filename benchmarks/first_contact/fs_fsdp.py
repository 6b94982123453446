"""fairscale's FullyShardedDataParallel."""
import torch
from torch import nn
from fairscale.nn import FullyShardedDataParallel

world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 6)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


def sequential():
    return Model()


def distributed(rank, world_size):
    return FullyShardedDataParallel(Model())


def inputs():
    return (torch.randn(4, 6),)
