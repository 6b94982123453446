"""LayerNorm over a hidden dimension cut over the ranks, between a column and a row parallel linear; the forward is right, but (bug) its statistics go through plain dist.all_reduce, which sends no gradient to the other ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HIDDEN, INNER = 6, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(HIDDEN, INNER)
        self.norm = nn.LayerNorm(INNER)
        self.down = nn.Linear(INNER, HIDDEN)

    def forward(self, x):
        return self.down(F.gelu(self.norm(self.up(x))))


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class ShardedLayerNorm(nn.Module):
    def __init__(self, full, rank, n):
        super().__init__()
        self.weight = nn.Parameter(full.weight.detach().chunk(n)[rank].clone())
        self.bias = nn.Parameter(full.bias.detach().chunk(n)[rank].clone())
        self.width, self.eps = full.weight.numel(), full.eps

    def forward(self, x):
        mean = x.sum(-1, keepdim=True) / self.width
        dist.all_reduce(mean)
        x = x - mean
        var = x.square().sum(-1, keepdim=True) / self.width
        dist.all_reduce(var)
        return x * torch.rsqrt(var + self.eps) * self.weight + self.bias


class ParallelBlock(nn.Module):
    def __init__(self, full, rank, n):
        super().__init__()
        self.up_weight = nn.Parameter(full.up.weight.detach().chunk(n)[rank].clone())
        self.up_bias = nn.Parameter(full.up.bias.detach().chunk(n)[rank].clone())
        self.norm = ShardedLayerNorm(full.norm, rank, n)
        self.down_weight = nn.Parameter(full.down.weight.detach().chunk(n, 1)[rank].clone())
        self.down_bias = full.down.bias

    def forward(self, x):
        h = F.linear(Copy.apply(x), self.up_weight, self.up_bias)
        h = F.gelu(self.norm(h))
        return Reduce.apply(F.linear(h, self.down_weight)) + self.down_bias


def sequential():
    return Block()


def distributed(rank, world_size):
    return ParallelBlock(Block(), rank, world_size)


def inputs():
    return torch.randn(5, HIDDEN)


world_size = 2
backward = True
TRUTH = "broken"
