"""MobileNet's inverted residual with the expanded channels cut over ranks, forward and backward."""
import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F


class InvertedResidual(nn.Module):
    def __init__(self, channels=4, expanded=12):
        super().__init__()
        self.expand = nn.Conv2d(channels, expanded, 1)
        self.depthwise = nn.Conv2d(expanded, expanded, 3, padding=1, groups=expanded)
        self.project = nn.Conv2d(expanded, channels, 1)

    def forward(self, x):
        h = F.silu(self.expand(x))
        h = F.silu(self.depthwise(h))
        return x + self.project(h)


class Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


class Leave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


def piece(conv, rank, world_size, dim=0):
    return nn.Parameter(conv.weight.detach().chunk(world_size, dim)[rank].clone())


class ChannelParallel(nn.Module):
    def __init__(self, block, rank, world_size):
        super().__init__()
        self.expand_weight = piece(block.expand, rank, world_size)
        self.expand_bias = nn.Parameter(block.expand.bias.detach().chunk(world_size)[rank].clone())
        self.depthwise_weight = piece(block.depthwise, rank, world_size)
        self.depthwise_bias = nn.Parameter(block.depthwise.bias.detach().chunk(world_size)[rank].clone())
        self.project_weight = piece(block.project, rank, world_size, 1)
        self.project_bias = nn.Parameter(block.project.bias.detach().clone())

    def forward(self, x):
        h = F.silu(F.conv2d(Enter.apply(x), self.expand_weight, self.expand_bias))
        h = F.silu(F.conv2d(h, self.depthwise_weight, self.depthwise_bias, padding=1, groups=h.shape[1]))
        out = Leave.apply(F.conv2d(h, self.project_weight))
        return x + out + self.project_bias.view(1, -1, 1, 1)


def sequential():
    return InvertedResidual()


def distributed(rank, world_size):
    return ChannelParallel(InvertedResidual(), rank, world_size)


def inputs():
    return torch.randn(2, 4, 5, 5)


world_size = 3
backward = True


TRUTH = "refines"
