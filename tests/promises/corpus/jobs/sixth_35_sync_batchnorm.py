"""Batch norm in training mode with statistics over all ranks, by hand; the running statistics are buffers."""
import torch
import torch.distributed as dist
from torch import nn

world_size = 2
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
C, MOMENTUM, EPS = 3, 0.1, 1e-5


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.rand(C) + 0.5)
        self.bias = nn.Parameter(torch.randn(C))
        self.register_buffer("running_mean", torch.randn(C))
        self.register_buffer("running_var", torch.rand(C) + 0.5)


class BatchNorm(Norm):
    def forward(self, x):
        return nn.functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                                        training=True, momentum=MOMENTUM, eps=EPS)


class SyncBatchNorm(Norm):
    def forward(self, x):
        over = (0, 2)
        count = x.shape[0] * x.shape[2]
        stats = torch.stack([x.sum(over), (x * x).sum(over)])
        dist.all_reduce(stats)
        total = count * dist.get_world_size()
        mean = stats[0] / total
        var = stats[1] / total - mean * mean
        with torch.no_grad():
            unbiased = var * count / (count - 1)
            self.running_mean.mul_(1 - MOMENTUM).add_(MOMENTUM * mean)
            self.running_var.mul_(1 - MOMENTUM).add_(MOMENTUM * unbiased)
        y = (x - mean[:, None]) / torch.sqrt(var + EPS)[:, None]
        return y * self.weight[:, None] + self.bias[:, None]


def sequential():
    return BatchNorm()


def distributed(rank, world_size):
    return SyncBatchNorm()


def inputs():
    torch.manual_seed(1)
    return {"x": torch.randn(4, C, 5)}


TRUTH = "differs"
