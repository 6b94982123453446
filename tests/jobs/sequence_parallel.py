"""Megatron's sequence parallelism: between parallel regions each rank holds some tokens, so norms see only these, and
their gradients have to be added up."""

import torch
import torch.distributed as dist
from megatron_mlp import Block
from megatron_parts import Gather, Scatter, generic, shard
from torch import nn
from torch.nn.functional import gelu

world_size = 2
backward = True
expected = {"0": "sharded(1)"}                             # cut along the tokens
relations = {"x": "sharded(1)", "cotangent.0": "sharded(1)"}


class Parallel(nn.Module):
    def __init__(self, block, rank, world_size, fault=None):
        super().__init__()
        self.norm = block.norm
        self.up_weight = shard(block.up.weight, 0, rank, world_size)
        self.up_bias = shard(block.up.bias, 0, rank, world_size)
        self.down_weight = shard(block.down.weight, 1, rank, world_size)
        self.down_bias = nn.Parameter(block.down.bias.detach().clone())
        for weight in (*self.norm.parameters(), self.down_bias):
            if fault != "norm_gradients_not_reduced" or weight is self.down_bias:
                weight.register_hook(added)

    def forward(self, x):
        h = Gather.apply(self.norm(x), 1)
        h = gelu(h @ self.up_weight.t() + self.up_bias)
        return x + Scatter.apply(h @ self.down_weight.t(), 1) + self.down_bias


def added(grad):
    grad = grad.clone()
    dist.all_reduce(grad)
    return grad


def sequential():
    return generic(Block())


def distributed(rank, world_size, fault=None):
    return Parallel(sequential(), rank, world_size, fault)


def inputs():
    return (torch.randn(2, 4, 8),)


faults = ("norm_gradients_not_reduced",)
