"""torch's own DistributedDataParallel: every rank has all weights and a part of the batch, and a reducer takes the mean
of gradients over ranks while the backward pass runs."""

import torch
from megatron_mlp import Block
from megatron_parts import generic
from torch import nn
from torch.nn.parallel import DistributedDataParallel

world_size = 2
backward = True
relations = {"x": "sharded(0)", "y": "sharded(0)"}
expected = {"0": "partial(avg)"}                           # each rank's loss is that of its own part of the batch


class Model(nn.Module):
    """`parts` is how often its loss is to be divided."""

    def __init__(self, parts=1):
        super().__init__()
        self.first, self.second, self.parts = Block(), Block(), parts

    def forward(self, x, y):
        return ((self.second(self.first(x.detach())) - y.detach()) ** 2).mean() / self.parts


def sequential():
    return generic(Model())


def distributed(rank, world_size, fault=None):
    model = DistributedDataParallel(generic(Model(world_size if fault == "mean_of_means" else 1)), bucket_cap_mb=1e-3)
    if fault == "gradients_not_synchronised":
        model.require_backward_grad_sync = False           # what model.no_sync() sets
    return model


def inputs():
    return torch.randn(4, 3, 8), torch.randn(4, 3, 8)


faults = ("gradients_not_synchronised", "mean_of_means")
