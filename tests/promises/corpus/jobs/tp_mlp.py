import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'column- then row-parallel; the bias is added once, after the all-reduce'
world_size = 4


class Mlp(nn.Module):
    def __init__(self, d=8, h=16):
        super().__init__()
        torch.manual_seed(0)
        self.up = nn.Linear(d, h)
        self.down = nn.Linear(h, d)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class ParallelMlp(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        whole = Mlp()
        self.rank = rank
        self.up_weight = nn.Parameter(whole.up.weight.detach().chunk(world_size, 0)[rank].clone())
        self.up_bias = nn.Parameter(whole.up.bias.detach().chunk(world_size, 0)[rank].clone())
        self.down_weight = nn.Parameter(whole.down.weight.detach().chunk(world_size, 1)[rank].clone())
        self.down_bias = nn.Parameter(whole.down.bias.detach().clone())

    def forward(self, x):
        h = F.gelu(F.linear(x, self.up_weight, self.up_bias))
        y = F.linear(h, self.down_weight)
        dist.all_reduce(y)
        return y + self.down_bias


def sequential():
    return Mlp()


def distributed(rank, world_size):
    return ParallelMlp(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 8),)
