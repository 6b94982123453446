import torch
import torch.nn as nn
from torch.distributed import _functional_collectives as funcol
import torch.distributed as dist

TRUTH = "refines"
WHY = 'batch norm over a split batch from summed first and second moments, running statistics updated with the unbiased variance'
world_size = 2


class BatchNorm(nn.Module):
    def __init__(self, c, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = nn.Parameter(torch.rand(c) + 0.5)
        self.bias = nn.Parameter(torch.randn(c))
        self.register_buffer("running_mean", torch.zeros(c))
        self.register_buffer("running_var", torch.ones(c))

    def moments(self, x):
        n = x.numel() / x.shape[1]
        mean = x.mean(dim=(0, 2))
        var = (x - mean[:, None]).pow(2).mean(dim=(0, 2))
        return n, mean, var

    def forward(self, x):
        n, mean, var = self.moments(x)
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(var * n / (n - 1), self.momentum)
        scale = self.weight * torch.rsqrt(var + self.eps)
        return x * scale[:, None] + (self.bias - mean * scale)[:, None]


class SyncedBatchNorm(BatchNorm):
    def moments(self, x):
        n = x.numel() / x.shape[1] * dist.get_world_size()
        sums = torch.stack([x.sum(dim=(0, 2)), x.square().sum(dim=(0, 2))])
        sums = funcol.all_reduce(sums, "sum", dist.group.WORLD)
        mean = sums[0] / n
        return n, mean, sums[1] / n - mean * mean


def sequential():
    torch.manual_seed(0)
    return BatchNorm(3)


def distributed(rank, world_size):
    torch.manual_seed(0)
    return SyncedBatchNorm(3)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 3, 5),)


relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
