"""Megatron sequence parallelism, backward. Mistake: the bias of the row-parallel linear (added to the sequence shard) misses the gradient all-reduce that the norms get."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, INNER = 8, 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):                                  # s b h
        return x + self.fc2(F.gelu(self.fc1(self.norm(x))))


def gather_sequence(x):
    out = x.new_empty((x.shape[0] * dist.get_world_size(), *x.shape[1:]))
    dist.all_gather_into_tensor(out, x.contiguous())
    return out


def scatter_sequence(x):
    out = x.new_empty((x.shape[0] // dist.get_world_size(), *x.shape[1:]))
    dist.reduce_scatter_tensor(out, x.contiguous())
    return out


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return gather_sequence(x)

    @staticmethod
    def backward(ctx, grad):
        return scatter_sequence(grad)


class ReduceScatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return scatter_sequence(x)

    @staticmethod
    def backward(ctx, grad):
        return gather_sequence(grad)


def all_reduce_grad(grad):
    grad = grad.clone()
    dist.all_reduce(grad)
    return grad


class SequenceParallelBlock(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.norm = full.norm
        self.fc1_weight = nn.Parameter(full.fc1.weight.detach().chunk(world_size, 0)[rank].clone())
        self.fc1_bias = nn.Parameter(full.fc1.bias.detach().chunk(world_size, 0)[rank].clone())
        self.fc2_weight = nn.Parameter(full.fc2.weight.detach().chunk(world_size, 1)[rank].clone())
        self.fc2_bias = nn.Parameter(full.fc2.bias.detach().clone())
        for name, p in self.named_parameters():
            if "norm" in name:                             # parameters that work on the sequence shard
                p.register_hook(all_reduce_grad)

    def forward(self, x):
        h = Gather.apply(self.norm(x))
        h = F.gelu(F.linear(h, self.fc1_weight, self.fc1_bias))
        return x + ReduceScatter.apply(F.linear(h, self.fc2_weight)) + self.fc2_bias


def sequential():
    return Block()


def distributed(rank, world_size):
    return SequenceParallelBlock(Block(), rank, world_size)


def inputs():
    return (torch.randn(8, 2, WIDTH),)


world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}

TRUTH = "broken"
