"""Convolutions over an image cut into strips: rows at the borders are exchanged, a group norm merges its moments over ranks."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "the halo replaces padding where there is a neighbour, and moments are merged by Chan's formula with the means' own spread"

world_size = 2
relations = {"x": "shard(2)"}
expected = {"0": "shard(2)"}

C, GROUPS = 4, 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(17)
        self.conv1 = nn.Conv2d(2, C, 3, padding=1)
        self.norm = nn.GroupNorm(GROUPS, C)
        self.conv2 = nn.Conv2d(C, 2, 3, padding=1)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def conv(self, layer, x):
        return layer(x)

    def group_norm(self, x):
        return self.norm(x)

    def forward(self, x):
        return self.conv(self.conv2, F.silu(self.group_norm(self.conv(self.conv1, x))))


class Strips(Net):
    def conv(self, layer, x):
        rank, size = dist.get_rank(), dist.get_world_size()
        above, below = torch.zeros_like(x[:, :, :1]), torch.zeros_like(x[:, :, :1])
        ops = []
        if rank > 0:
            ops += [dist.P2POp(dist.isend, x[:, :, :1].contiguous(), rank - 1), dist.P2POp(dist.irecv, above, rank - 1)]
        if rank + 1 < size:
            ops += [dist.P2POp(dist.isend, x[:, :, -1:].contiguous(), rank + 1), dist.P2POp(dist.irecv, below, rank + 1)]
        for req in dist.batch_isend_irecv(ops):
            req.wait()
        x = torch.cat([above, x, below], dim=2)
        return F.conv2d(x, layer.weight, layer.bias, padding=(0, 1))

    def group_norm(self, x):
        size = dist.get_world_size()
        B = x.shape[0]
        g = x.view(B, GROUPS, -1)
        n = g.shape[-1]
        stats = torch.stack([g.mean(-1), g.var(-1, unbiased=False)])
        every = [torch.empty_like(stats) for _ in range(size)]
        dist.all_gather(every, stats)
        means, variances = torch.stack(every).unbind(1)
        mean = means.mean(0)
        var = (variances + (means - mean) ** 2).mean(0)
        g = (g - mean[..., None]) * torch.rsqrt(var[..., None] + self.norm.eps)
        return g.view_as(x) * self.norm.weight[:, None, None] + self.norm.bias[:, None, None]


def sequential():
    return Net()


def distributed(rank, world_size):
    return Strips()


def inputs():
    torch.manual_seed(18)
    return (torch.randn(2, 2, 6, 5),)
