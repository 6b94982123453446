"""`tensor_parallel.py` with a mistake that many have made: every rank adds the bias before the all-reduce."""

import torch
import torch.distributed as dist
from tensor_parallel import Block, BlockOfRank, inputs, sequential
from torch import nn
from torch.nn.functional import gelu


class BiasOnEveryRank(BlockOfRank):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = gelu(self.norm(x) @ self.up_weight.t() + self.up_bias) @ self.down_weight.t() + self.down_bias
        dist.all_reduce(y)
        return x + y


def distributed(rank: int, world_size: int) -> nn.Module:
    return BiasOnEveryRank(Block(), rank, world_size)


__all__ = ["distributed", "inputs", "sequential"]
