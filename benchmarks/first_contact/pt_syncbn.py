"""SyncBatchNorm: statistics over the whole batch though each rank has a part."""
import torch
from torch import nn

world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)", "grad.1.weight": "partial", "grad.1.bias": "partial", "grad.0.weight": "partial", "grad.0.bias": "partial", "grad.3.weight": "partial", "grad.3.bias": "partial"}


def sequential():
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 2, 1)).train()


def distributed(rank, world_size):
    return nn.SyncBatchNorm.convert_sync_batchnorm(sequential())


def inputs():
    return (torch.randn(4, 2, 5, 5),)
