import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'shards lie in the opposite order, and the gathered pieces are turned round again'
world_size = 3


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(6, 8))

    def forward(self, x):
        return {"y": F.linear(x, self.weight)}


class Local(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.rank, self.world = rank, world_size
        self.weight = nn.Parameter(Linear().weight.detach().chunk(world_size, 0)[world_size - 1 - rank].clone())

    def forward(self, x):
        y = F.linear(x, self.weight)
        pieces = [torch.empty_like(y) for _ in range(self.world)]
        dist.all_gather(pieces, y)
        return {"y": torch.cat(pieces[::-1], -1)}


def sequential():
    return Linear()


def distributed(rank, world_size):
    return Local(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 8),)
