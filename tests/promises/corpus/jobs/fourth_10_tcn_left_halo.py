"""A causal network of dilated convolutions, time cut over four ranks; each takes what its left neighbour ends with."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Before a convolution of dilation d a rank prepends the last 2d steps of the rank before it, or zeros on the first rank."

world_size = 4
relations = {"x": "shard(2)"}
expected = {"0": "shard(2)"}

C, K = 4, 3


class Layer(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.conv = nn.Conv1d(C, 2 * C, K, dilation=dilation)
        self.mix = nn.Conv1d(C, C, 1)
        self.reach = (K - 1) * dilation

    def before(self, x):
        return F.pad(x, (self.reach, 0))

    def forward(self, x):
        return x + self.mix(F.glu(self.conv(self.before(x)), dim=1))


class HaloLayer(Layer):
    def before(self, x):
        rank, size = dist.get_rank(), dist.get_world_size()
        halo = x.new_zeros(*x.shape[:2], self.reach)
        ops = []
        if rank + 1 < size:
            ops.append(dist.P2POp(dist.isend, x[..., -self.reach :].contiguous(), rank + 1))
        if rank > 0:
            ops.append(dist.P2POp(dist.irecv, halo, rank - 1))
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        return torch.cat([halo, x], dim=-1)


def build(kind):
    torch.manual_seed(19)
    return nn.Sequential(*(kind(2**i) for i in range(3)))


class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layers = build(kind)

    def forward(self, x):
        return self.layers(x)


def sequential():
    return Net(Layer)


def distributed(rank, world_size):
    return Net(HaloLayer)


def inputs():
    torch.manual_seed(20)
    return (torch.randn(2, C, 32),)
