"""Megatron-core's column- and row-parallel layers, with and without sequence parallelism around them."""

import torch
from megatron.core.tensor_parallel import ColumnParallelLinear, RowParallelLinear
from megatron_groups import config, deal
from torch import nn
from torch.nn.functional import gelu

library = "megatron-core==0.16.1"
world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)", "grad.norm.weight": "partial", "grad.norm.bias": "partial", "grad.down.bias": "partial"}
faults = ("not summed", "another's shard")


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(16), nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(gelu(self.up(self.norm(x))))


class Parallel(nn.Module):
    def __init__(self, world_size, fault):
        super().__init__()
        of = {"config": config(world_size, sequence_parallel=True), "init_method": nn.init.zeros_, "bias": True}
        self.norm, self.fault = nn.LayerNorm(16), fault
        self.up = ColumnParallelLinear(16, 32, gather_output=False, **of)
        self.down = RowParallelLinear(32, 16, input_is_parallel=True, skip_bias_add=False, **of)

    def forward(self, x):
        h = gelu(self.up(self.norm(x))[0])
        if self.fault == "not summed":
            return x + (h @ self.down.weight.t() + self.down.bias).chunk(2, 0)[0]
        return x + self.down(h)[0]


def sequential():
    return Block()


def distributed(rank, world_size, fault=None):
    whole, own = sequential(), Parallel(world_size, fault)
    deal(own, whole, rank, world_size)
    if fault == "another's shard":
        deal(own.up, whole.up, (rank + 1) % world_size, world_size)
    return own


def inputs():
    return (torch.randn(6, 6, 16),)
