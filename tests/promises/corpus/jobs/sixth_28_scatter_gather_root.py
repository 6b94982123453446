"""Rank 0 has the batch, scatters it, everyone computes, rank 0 gathers. Only rank 0 returns anything."""
import torch
import torch.distributed as dist
from torch import nn

world_size = 4


def sequential():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.SiLU(), nn.Linear(7, 3), nn.LogSoftmax(-1))


class Worker(nn.Sequential):
    def forward(self, x):
        rank, n = dist.get_rank(), dist.get_world_size()
        rows = x.shape[0] // n
        mine = torch.empty(rows, x.shape[1], dtype=x.dtype)
        dist.scatter(mine, [c.contiguous() for c in x.split(rows)] if rank == 0 else None, src=0)
        y = super().forward(mine).contiguous()
        if rank == 0:
            ys = [torch.empty_like(y) for _ in range(n)]
            dist.gather(y, ys, dst=0)
            return torch.cat(ys)
        dist.gather(y, dst=0)
        return None


def distributed(rank, world_size):
    net = sequential()
    return Worker(*net)


def inputs():
    torch.manual_seed(2)
    return (torch.randn(8, 5),)


TRUTH = "refines"
