"""torch's own fully_shard: weights are gathered and gradients scattered by hooks around each layer."""

import torch
from megatron_mlp import Block
from megatron_parts import generic
from torch import nn
from torch.distributed.fsdp import fully_shard

world_size = 2
mesh = {"dp": 2}
backward = True
relations = {"x": "sharded(0)", "y": "sharded(0)"}
expected = {"0": "partial(avg)"}                           # each rank's loss is that of its own part of the batch


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(), Block()

    def forward(self, x, y):
        return ((self.second(self.first(x.detach())) - y.detach()) ** 2).mean()


def sequential():
    return generic(Model())


def distributed(rank, world_size, mesh, fault=None):
    model = generic(Model())
    for block in (model.first, model.second):
        fully_shard(block, mesh=mesh)
    if fault == "gradients_not_synchronised":
        model.second.set_requires_gradient_sync(False)
    return fully_shard(model, mesh=mesh)


def inputs():
    return torch.randn(4, 3, 8), torch.randn(4, 3, 8)


faults = ("gradients_not_synchronised",)
