"""FSDP1: FullyShardedDataParallel around a small model."""
import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel

world_size = 2
backward = True
relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"0": "partial(avg)"}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 6)

    def forward(self, x, y):
        return ((self.b(torch.tanh(self.a(x))) - y) ** 2).mean()


def sequential():
    return Model()


def distributed(rank, world_size):
    return FullyShardedDataParallel(Model(), device_id=torch.device("cpu"), use_orig_params=True)


def inputs():
    return torch.randn(4, 6), torch.randn(4, 6)
