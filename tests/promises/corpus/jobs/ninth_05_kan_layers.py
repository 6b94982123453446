"""Two layers of a radial-basis Kolmogorov-Arnold network, the edges' input nodes cut over ranks."""
import torch
import torch.distributed as dist
from torch import nn

CENTRES = (-1.5, -0.5, 0.5, 1.5)


def basis(x):
    return torch.stack([torch.exp(-((x - c) ** 2)) for c in CENTRES], dim=-1)


class KAN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Parameter(torch.randn(6, len(CENTRES), 8) / 4)
        self.second = nn.Parameter(torch.randn(8, len(CENTRES), 3) / 4)

    def forward(self, x):
        h = torch.einsum("bik,iko->bo", basis(x), self.first)
        return torch.einsum("bik,iko->bo", basis(h), self.second)


class EdgeParallelKAN(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.rank, self.world_size = rank, world_size
        self.first = nn.Parameter(full.first.detach().chunk(world_size)[rank].clone())
        self.second = nn.Parameter(full.second.detach().chunk(world_size)[rank].clone())

    def forward(self, x):
        mine = x.chunk(self.world_size, dim=1)[self.rank]
        part = torch.einsum("bik,iko->ob", basis(mine), self.first).contiguous()
        h = part.new_empty(part.shape[0] // self.world_size, part.shape[1])
        dist.reduce_scatter_tensor(h, part)                     # the nodes that this rank goes on with
        out = torch.einsum("bik,iko->bo", basis(h.t()), self.second)
        dist.all_reduce(out)
        return out


def sequential():
    return KAN()


def distributed(rank, world_size):
    return EdgeParallelKAN(KAN(), rank, world_size)


def inputs():
    return torch.randn(5, 6)


world_size = 2


TRUTH = "refines"
