"""Megatron's sequence parallelism: the gradients of the norm are summed over ranks, but not that of the row-parallel bias, which is added after the reduce-scatter and so sees the rank's piece of the sequence alone."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HIDDEN = 6, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.up, self.down = nn.Linear(DIM, HIDDEN), nn.Linear(HIDDEN, DIM)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Gather(torch.autograd.Function):
    """Pieces of the sequence (dimension 0) to all of it; the gradient is summed and cut."""

    @staticmethod
    def forward(ctx, x):
        full = x.new_empty(x.shape[0] * dist.get_world_size(), *x.shape[1:])
        dist.all_gather_into_tensor(full, x.contiguous())
        return full

    @staticmethod
    def backward(ctx, grad):
        return ReduceScatter.apply(grad)


class ReduceScatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        piece = x.new_empty(x.shape[0] // dist.get_world_size(), *x.shape[1:])
        dist.reduce_scatter_tensor(piece, x.contiguous())
        return piece

    @staticmethod
    def backward(ctx, grad):
        return Gather.apply(grad)


def sum_gradient(p):
    def hook(grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad

    p.register_hook(hook)


class SequenceParallel(nn.Module):
    def __init__(self, block, rank, world_size):
        super().__init__()
        self.norm = block.norm
        self.up_weight = nn.Parameter(block.up.weight.detach().chunk(world_size)[rank].clone())
        self.up_bias = nn.Parameter(block.up.bias.detach().chunk(world_size)[rank].clone())
        self.down_weight = nn.Parameter(block.down.weight.detach().chunk(world_size, 1)[rank].clone())
        self.down_bias = nn.Parameter(block.down.bias.detach().clone())
        for p in self.norm.parameters():
            sum_gradient(p)

    def forward(self, x):
        h = Gather.apply(self.norm(x))
        h = F.gelu(F.linear(h, self.up_weight, self.up_bias))
        return x + ReduceScatter.apply(F.linear(h, self.down_weight)) + self.down_bias


def sequential():
    return Block()


def distributed(rank, world_size):
    return SequenceParallel(Block(), rank, world_size)


def inputs():
    return (torch.randn(8, 2, DIM),)


world_size = 4
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
backward = True


TRUTH = "broken"
