"""Experts dealt out to ranks: every rank routes its own tokens, sends each expert a fixed number of places (padded with
zeros), and takes the results back. Router and auxiliary loss are the same on every rank."""

import torch
import torch.distributed as dist
from megatron_parts import generic, shard
from torch import nn
from torch.distributed import _functional_collectives as collectives

world_size = 2
backward = True
EXPERTS, WIDTH, INNER = 4, 6, 5
relations = {"x": "sharded(0)"}


class Experts(nn.Module):
    """Every token goes to every expert, and the router's weights say how much of each it takes."""

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.up = nn.Parameter(torch.empty(EXPERTS, WIDTH, INNER))
        self.down = nn.Parameter(torch.empty(EXPERTS, INNER, WIDTH))

    def forward(self, x):
        weights = self.router(x).softmax(-1)
        y = (x @ self.up).tanh() @ self.down               # [experts, tokens, width]
        y = (y * weights.t().unsqueeze(-1)).sum(0)
        return (y**2).sum() + balance(weights.sum(0))


def balance(load):
    """The auxiliary loss of the load of each expert."""
    return 0.1 * (load**2).sum()


class Parallel(nn.Module):
    def __init__(self, whole, rank, world_size, fault=None):
        super().__init__()
        self.router, self.world_size, self.fault = whole.router, world_size, fault
        self.up, self.down = shard(whole.up, 0, rank, world_size), shard(whole.down, 0, rank, world_size)
        for weight in self.router.parameters():
            if fault != "router_gradient_not_reduced":
                weight.register_hook(lambda grad: collectives.all_reduce(grad, "sum", dist.group.WORLD))

    def exchanged(self, x):
        """One slice along the first dimension for each rank, from each rank."""
        return collectives.all_to_all_single_autograd(x.contiguous(), None, None, dist.group.WORLD)

    def forward(self, x):
        weights = self.router(x).softmax(-1)
        own = EXPERTS // self.world_size
        sent = x.expand(EXPERTS, *x.shape)                                 # a place for each token at each expert
        taken = self.exchanged(sent).unflatten(0, (self.world_size, own)).transpose(0, 1).flatten(1, 2)
        y = (taken @ self.up).tanh() @ self.down                           # own experts, everybody's tokens
        back = y.unflatten(1, (self.world_size, -1)).transpose(0, 1).flatten(0, 1)
        y = (self.exchanged(back) * weights.t().unsqueeze(-1)).sum(0)
        load = Together.apply(weights.sum(0))
        auxiliary = balance(load)
        if self.fault == "auxiliary_loss_scaled":
            auxiliary = auxiliary * self.world_size
        return Total.apply((y**2).sum()) + auxiliary


class Together(torch.autograd.Function):
    """A sum over ranks of which every rank computes the same; each has the gradient of the whole already."""

    @staticmethod
    def forward(ctx, x):
        return collectives.all_reduce(x, "sum", dist.group.WORLD)

    @staticmethod
    def backward(ctx, grad):
        return grad


Total = Together


def sequential():
    return generic(Experts())


def distributed(rank, world_size, fault=None):
    return Parallel(sequential(), rank, world_size, fault)


def inputs():
    return (torch.randn(6, WIDTH),)


faults = ("router_gradient_not_reduced", "auxiliary_loss_scaled")
