"""DeepSpeed's automatic tensor parallelism: its two layers."""
import torch
from torch import nn
from torch.nn.functional import silu
from deepspeed.module_inject.layers import LinearAllreduce, LinearLayer
import torch.distributed as dist
import deepspeed

world_size = 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return self.down(silu(self.up(x)))


def sequential():
    return Block()


def distributed(rank, world_size):
    deepspeed.init_distributed(dist_backend="gloo")
    block = Block()
    group = dist.group.WORLD
    block.up = LinearLayer(block.up, group)
    block.down = LinearAllreduce(block.down, group)
    return block


def inputs():
    return (torch.randn(3, 8),)
