"""A job for `samesame refine`: a feed-forward block, and what each rank runs of it under tensor parallelism.

    samesame refine examples/tensor_parallel.py --world-size 4
    samesame refine examples/tensor_parallel_bias.py            # with a mistake: every rank adds the bias
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import gelu


class Block(nn.Module):
    def __init__(self, width: int = 12, inner: int = 24) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(gelu(self.up(self.norm(x))))


class BlockOfRank(nn.Module):
    """The same with the inner width cut: `up` by columns, `down` by rows, and one all-reduce."""

    def __init__(self, block: Block, rank: int, world_size: int) -> None:
        super().__init__()
        self.norm = block.norm
        self.up_weight = nn.Parameter(block.up.weight.chunk(world_size, 0)[rank].clone())
        self.up_bias = nn.Parameter(block.up.bias.chunk(world_size, 0)[rank].clone())
        self.down_weight = nn.Parameter(block.down.weight.chunk(world_size, 1)[rank].clone())
        self.down_bias = nn.Parameter(block.down.bias.clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = gelu(self.norm(x) @ self.up_weight.t() + self.up_bias) @ self.down_weight.t()
        dist.all_reduce(y)
        return x + y + self.down_bias


def sequential() -> nn.Module:
    return Block()


def distributed(rank: int, world_size: int) -> nn.Module:
    return BlockOfRank(Block(), rank, world_size)


def inputs() -> tuple[torch.Tensor]:
    return (torch.randn(2, 5, 12),)
