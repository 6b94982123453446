# Tensor parallel inside a node, data parallel between nodes; a training step on a mesh of two axes.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


class CopyToTensorParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g, group=ctx.group)
        return g, None


class ReduceFromTensorParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, g):
        return g, None


class MLP(nn.Module):
    def __init__(self, dim=6, width=8):
        super().__init__()
        self.inp = nn.Linear(dim, dim)
        self.up = nn.Parameter(torch.randn(width, dim) * 0.4)
        self.down = nn.Parameter(torch.randn(dim, width) * 0.4)

    def forward(self, x):
        return F.linear(F.gelu(F.linear(self.inp(x), self.up)), self.down)


class ParallelMLP(nn.Module):
    def __init__(self, mesh):
        super().__init__()
        full = MLP()
        self.group = mesh.get_group("tp")
        n, r = mesh["tp"].size(), mesh.get_local_rank("tp")
        self.inp = full.inp
        self.up = nn.Parameter(full.up.data.chunk(n, 0)[r].clone())
        self.down = nn.Parameter(full.down.data.chunk(n, 1)[r].clone())

    def forward(self, x):
        h = CopyToTensorParallel.apply(self.inp(x), self.group)
        return ReduceFromTensorParallel.apply(F.linear(F.gelu(F.linear(h, self.up)), self.down), self.group)


class Step(nn.Module):
    def __init__(self, net, grad_group=None):
        super().__init__()
        self.net, self.grad_group = net, grad_group
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        if self.grad_group is not None:
            for p in self.net.parameters():
                dist.all_reduce(p.grad, group=self.grad_group)
                p.grad /= dist.get_world_size(self.grad_group)
        self.opt.step()
        return loss.detach()


def sequential():
    return Step(MLP())


def distributed(rank, world_size, mesh):
    return Step(ParallelMLP(mesh), grad_group=mesh.get_group(1))


def inputs():
    return torch.randn(4, 6), torch.randn(4, 6)


mesh = {"dp": 2, "tp": 2}
world_size = 4
relations = {"x": "shard(0) over dp", "y": "shard(0) over dp"}
expected = {"0": "partial(avg) over dp"}
TRUTH = "differs"
