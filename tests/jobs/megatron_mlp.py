"""Tensor parallelism by hand: a norm, a column-parallel layer, a row-parallel layer, with plain dist.all_reduce."""

import torch
import torch.distributed as dist
from megatron_parts import Copy, Reduce, generic, shard
from torch import nn
from torch.nn.functional import gelu

world_size = 2
backward = True


class Block(nn.Module):
    def __init__(self, width=8, inner=8):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return x + self.down(gelu(self.up(self.norm(x))))


class Parallel(nn.Module):
    """The block with the inner dimension cut; `fault` plants one."""

    def __init__(self, block, rank, world_size, fault=None):
        super().__init__()
        self.norm, self.fault = block.norm, fault
        self.up_weight = shard(block.up.weight, 0, rank, world_size)
        self.up_bias = shard(block.up.bias, 0, rank, world_size)
        down = block.down.weight.t() if fault == "swapped_shard_dim" else block.down.weight
        self.down_weight = shard(down, 1, rank, world_size)
        self.down_bias = nn.Parameter(block.down.bias.detach().clone())

    def forward(self, x):
        h = self.norm(x)
        if self.fault != "no_backward_all_reduce":
            h = Copy.apply(h)
        h = gelu(h @ self.up_weight.t() + self.up_bias)
        y = h @ self.down_weight.t()
        if self.fault == "bias_on_every_rank":
            return x + Reduce.apply(y + self.down_bias)
        if self.fault == "discarded_all_reduce":
            dist.all_reduce(y.transpose(0, 1).contiguous())
        elif self.fault != "no_forward_all_reduce":
            y = Reduce.apply(y)
        return x + (y + self.down_bias)


def sequential():
    return generic(Block())


def distributed(rank, world_size, fault=None):
    return Parallel(sequential(), rank, world_size, fault)


def inputs():
    return (torch.randn(2, 3, 8),)


faults = (
    "no_forward_all_reduce", "bias_on_every_rank", "discarded_all_reduce", "no_backward_all_reduce", "swapped_shard_dim"
)
