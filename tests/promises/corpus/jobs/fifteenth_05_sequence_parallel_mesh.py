"""A Llama feed-forward block on a mesh of data and tensor parallel ranks with sequence parallelism: norm on pieces of the sequence, all-gather and reduce-scatter around the matrices."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, INNER, BATCH, POSITIONS = 8, 12, 4, 6
mesh = {"dp": 2, "tp": 2}
world_size = 4
backward = True
relations = {"x": "shard(0) over dp, shard(1) over tp"}
expected = {"0": "shard(0) over dp, shard(1) over tp"}


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(WIDTH)
        self.gate = nn.Linear(WIDTH, INNER, bias=False)
        self.up = nn.Linear(WIDTH, INNER, bias=False)
        self.down = nn.Linear(INNER, WIDTH)

    def forward(self, x):
        h = self.norm(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def gather_sequence(x, group):
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, x.contiguous(), group=group)
    return torch.cat(parts, dim=1)


def reduce_scatter_sequence(x, group):
    n = dist.get_world_size(group)
    stacked = torch.cat(x.chunk(n, dim=1), dim=0).contiguous()          # pieces of the sequence one after the other
    out = torch.empty(x.shape[0], x.shape[1] // n, x.shape[2])
    dist.reduce_scatter_tensor(out, stacked, group=group)
    return out


class GatherSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return gather_sequence(x, group)

    @staticmethod
    def backward(ctx, grad):
        return reduce_scatter_sequence(grad, ctx.group), None


class ReduceScatterSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return reduce_scatter_sequence(x, group)

    @staticmethod
    def backward(ctx, grad):
        return gather_sequence(grad, ctx.group), None


def add_up_gradient(parameter, group):
    def hook(grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad, group=group)
        return grad

    parameter.register_hook(hook)


class ParallelBlock(nn.Module):
    def __init__(self, whole, mesh):
        super().__init__()
        self.tp, dp = mesh.get_group("tp"), mesh.get_group("dp")
        n, i = dist.get_world_size(self.tp), dist.get_rank(self.tp)
        self.norm = whole.norm
        self.gate_weight = nn.Parameter(whole.gate.weight.detach().chunk(n, 0)[i].clone())
        self.up_weight = nn.Parameter(whole.up.weight.detach().chunk(n, 0)[i].clone())
        self.down_weight = nn.Parameter(whole.down.weight.detach().chunk(n, 1)[i].clone())
        self.down_bias = nn.Parameter(whole.down.bias.detach().clone())
        for parameter in (self.gate_weight, self.up_weight, self.down_weight):
            add_up_gradient(parameter, dp)
        for parameter in (self.norm.weight, self.down_bias):            # these see a piece of the sequence only
            add_up_gradient(parameter, None)

    def forward(self, x):
        h = GatherSequence.apply(self.norm(x), self.tp)
        h = F.silu(F.linear(h, self.gate_weight)) * F.linear(h, self.up_weight)
        return x + ReduceScatterSequence.apply(F.linear(h, self.down_weight), self.tp) + self.down_bias


def sequential():
    return Block()


def distributed(rank, world_size, mesh):
    return ParallelBlock(Block(), mesh)


def inputs():
    return (torch.randn(BATCH, POSITIONS, WIDTH),)

TRUTH = "refines"
