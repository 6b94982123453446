"""Megatron sequence parallelism: LayerNorm on a piece of the sequence, all-gather in, reduce-scatter out, and norm and bias gradients summed over ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

SEQ, BATCH, DIM, HIDDEN = 6, 2, 5, 9


def gather_sequence(x):
    pieces = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(pieces, x.contiguous())
    return torch.cat(pieces, 0)


def scatter_sequence(x):
    world = dist.get_world_size()
    out = x.new_empty(x.shape[0] // world, *x.shape[1:])
    dist.reduce_scatter_tensor(out, x.contiguous())
    return out


class GatherFromSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return gather_sequence(x)

    @staticmethod
    def backward(ctx, grad):
        return scatter_sequence(grad)


class ReduceScatterToSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return scatter_sequence(x)

    @staticmethod
    def backward(ctx, grad):
        return gather_sequence(grad)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.up = nn.Linear(DIM, HIDDEN)
        self.down = nn.Linear(HIDDEN, DIM)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x)), approximate="tanh"))


class SequenceParallelMLP(nn.Module):
    def __init__(self, mlp, rank, world_size):
        super().__init__()
        self.norm = mlp.norm
        per = HIDDEN // world_size
        part = slice(rank * per, (rank + 1) * per)
        self.up_weight = nn.Parameter(mlp.up.weight.data[part].clone())
        self.up_bias = nn.Parameter(mlp.up.bias.data[part].clone())
        self.down_weight = nn.Parameter(mlp.down.weight.data[:, part].clone())
        self.down_bias = nn.Parameter(mlp.down.bias.data.clone())
        for p in (self.norm.weight, self.norm.bias, self.down_bias):    # used on a piece of the sequence
            p.register_hook(self.sum_over_ranks)

    @staticmethod
    def sum_over_ranks(grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad

    def forward(self, x):
        whole = GatherFromSequence.apply(self.norm(x))
        h = F.gelu(F.linear(whole, self.up_weight, self.up_bias), approximate="tanh")
        partial = F.linear(h, self.down_weight)
        return x + ReduceScatterToSequence.apply(partial) + self.down_bias


def sequential():
    return MLP()


def distributed(rank, world_size):
    return SequenceParallelMLP(MLP(), rank, world_size)


def inputs():
    return (torch.randn(SEQ, BATCH, DIM),)


world_size = 3
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
TRUTH = "refines"
