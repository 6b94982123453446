"""Sharded weights without hooks: each weight is a DTensor cut along its rows, and is gathered where it is used."""

import torch
from megatron_mlp import Block
from megatron_parts import generic
from torch import nn
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.nn.utils import parametrize

world_size = 2
mesh = {"dp": 2}


class Gathered(nn.Module):
    def __init__(self, reduce):
        super().__init__()
        self.reduce = reduce

    def forward(self, weight):
        whole = weight.redistribute(placements=[Replicate()])
        return whole.to_local(grad_placements=[self.reduce])


def step(block):
    """The loss of a batch and the gradients of all weights."""
    weights = dict(block.named_parameters())

    def run(x, y):
        loss = ((block(x) - y) ** 2).mean()
        grads = torch.autograd.grad(loss, list(weights.values()))
        return {f"grad.{plain(name)}": g for name, g in zip(weights, grads, strict=True)}

    return run


def plain(name):
    return name.replace("parametrizations.", "").removesuffix(".original")


def sequential():
    return step(generic(Block()))


def distributed(rank, world_size, mesh, fault=None):
    from torch.distributed.tensor import Partial

    block = generic(Block())
    reduce = Partial("sum" if fault == "sum_for_mean" else "avg")
    for part in (block.norm, block.up, block.down):
        for name, weight in list(part.named_parameters(recurse=False)):
            setattr(part, name, nn.Parameter(distribute_tensor(weight.detach(), mesh, [Shard(0)])))
            parametrize.register_parametrization(part, name, Gathered(reduce), unsafe=True)
    return step(block)


def inputs():
    return torch.randn(4, 3, 8), torch.randn(4, 3, 8)


relations = {"x": "sharded(0)", "y": "sharded(0)"}
faults = ("sum_for_mean",)
