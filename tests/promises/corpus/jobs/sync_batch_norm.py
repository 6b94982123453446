import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = 'means and mean squares of equal parts of the batch are averaged'
world_size = 2


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.rand(5) + 0.5)
        self.bias = nn.Parameter(torch.randn(5))

    def forward(self, x):
        mean = x.mean(0)
        var = x.square().mean(0) - mean.square()
        return {"y": (x - mean) * torch.rsqrt(var + 1e-5) * self.weight + self.bias}


class LocalNorm(nn.Module):
    def __init__(self, world_size):
        super().__init__()
        whole = Norm()
        self.world = world_size
        self.weight, self.bias = whole.weight, whole.bias

    def forward(self, x):
        stats = torch.stack([x.mean(0), x.square().mean(0)])
        dist.all_reduce(stats)
        stats = stats / self.world
        mean = stats[0]
        var = stats[1] - mean.square()
        return {"y": (x - mean) * torch.rsqrt(var + 1e-5) * self.weight + self.bias}


def sequential():
    return Norm()


def distributed(rank, world_size):
    return LocalNorm(world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 5),)


relations = {"x": "shard(0)"}
expected = {"y": "shard(0)"}
