"""Megatron sequence parallelism: norm and residual on pieces of the sequence, all-gather in, reduce-scatter out, gradients synced by hooks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HIDDEN, FFN = 8, 16


class MLPBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(HIDDEN)
        self.fc1 = nn.Linear(HIDDEN, FFN)
        self.fc2 = nn.Linear(FFN, HIDDEN)
        self.final_norm = nn.LayerNorm(HIDDEN)

    def forward(self, x):  # [sequence, batch, hidden]
        x = x + self.fc2(F.gelu(self.fc1(self.norm(x)), approximate="tanh"))
        return self.final_norm(x)


def gather_sequence(x):
    out = x.new_empty(x.shape[0] * dist.get_world_size(), *x.shape[1:])
    dist.all_gather_into_tensor(out, x.contiguous())
    return out


def scatter_sum_sequence(x):
    out = x.new_empty(x.shape[0] // dist.get_world_size(), *x.shape[1:])
    dist.reduce_scatter_tensor(out, x.contiguous())
    return out


class GatherFromSequenceParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return gather_sequence(x)

    @staticmethod
    def backward(ctx, grad):
        return scatter_sum_sequence(grad)


class ReduceScatterToSequenceParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return scatter_sum_sequence(x)

    @staticmethod
    def backward(ctx, grad):
        return gather_sequence(grad)


def sum_over_ranks(grad):
    grad = grad.contiguous().clone()
    dist.all_reduce(grad)
    return grad


class SequenceParallelMLP(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.norm, self.final_norm = full.norm, full.final_norm
        self.fc1 = nn.Linear(HIDDEN, FFN // world_size)
        self.fc2 = nn.Linear(FFN // world_size, HIDDEN)
        with torch.no_grad():
            self.fc1.weight.copy_(full.fc1.weight.chunk(world_size, 0)[rank])
            self.fc1.bias.copy_(full.fc1.bias.chunk(world_size, 0)[rank])
            self.fc2.weight.copy_(full.fc2.weight.chunk(world_size, 1)[rank])
            self.fc2.bias.copy_(full.fc2.bias)
        # used on a piece of the sequence only: their gradients are sums over ranks
        for p in (*self.norm.parameters(), *self.final_norm.parameters(), self.fc2.bias):
            p.register_hook(sum_over_ranks)

    def forward(self, x):
        h = GatherFromSequenceParallel.apply(self.norm(x))
        h = F.gelu(self.fc1(h), approximate="tanh")
        h = ReduceScatterToSequenceParallel.apply(F.linear(h, self.fc2.weight))
        return self.final_norm(x + (h + self.fc2.bias))


def sequential():
    return MLPBlock()


def distributed(rank, world_size):
    return SequenceParallelMLP(MLPBlock(), rank, world_size)


def inputs():
    return (torch.randn(8, 3, HIDDEN),)


world_size = 4
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}


TRUTH = "refines"
