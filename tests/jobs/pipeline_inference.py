"""The stages of a pipeline as plain modules, forward only: each sends what it makes to the next and returns nothing,
the one before the last shows what it sends, and the last returns the result."""

import torch
import torch.distributed as dist
from megatron_parts import generic
from pipeline_stages import LAYERS, WIDTH, Model
from torch import nn

world_size = 4
STEPS = 2


class Stage(nn.Module):
    def __init__(self, rank, world_size, fault):
        super().__init__()
        own = LAYERS // world_size
        self.layers = generic(Model()).layers[rank * own : (rank + 1) * own]
        self.rank, self.world_size, self.fault = rank, world_size, fault

    def forward(self, x):
        made = [self.one(part) for part in x.chunk(STEPS)]
        if self.rank < self.world_size - 2:
            return None
        if self.rank == self.world_size - 2:
            return {"sent": torch.cat(made)}
        return torch.cat(made[::-1] if self.fault == "micro_batches_in_reverse" else made)

    def one(self, x):
        if self.rank:
            came = torch.empty_like(x)
            dist.recv(came, self.rank - 1)
            x = x + came if self.fault == "input_added_again" and self.rank == 2 else came
        for layer in self.layers:
            x = layer(x)
        if self.rank < self.world_size - 1:
            dist.send(x, self.rank + 1)
        return x


def sequential():
    return generic(Model())


def distributed(rank, world_size, fault=None):
    return Stage(rank, world_size, fault)


def inputs():
    return (torch.randn(4, WIDTH),)


faults = ("micro_batches_in_reverse", "input_added_again")
