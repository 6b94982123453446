import torch
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'the ranks hold columns of y in rank order, and the job says so'
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
        self.weight = nn.Parameter(Linear().weight.detach().chunk(world_size, 0)[rank].clone())

    def forward(self, x):
        return {"y": F.linear(x, self.weight)}


def sequential():
    return Linear()


def distributed(rank, world_size):
    return Local(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 8),)


expected = {"y": "shard(1)"}
