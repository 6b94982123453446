import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = "each rank multiplies its columns of the weight by the other rank's part of x"
world_size = 2


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
        self.weight = nn.Parameter(Linear().weight.detach().chunk(world_size, 1)[rank].clone())

    def forward(self, x):
        y = F.linear(x.chunk(self.world, -1)[self.world - 1 - self.rank], self.weight)
        dist.all_reduce(y)
        return {"y": y}


def sequential():
    return Linear()


def distributed(rank, world_size):
    return Local(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 8),)
