# The model is cut by torch's tracer at the names of modules, not by hand; forward only.
import torch
from torch import nn
from torch.distributed.pipelining import ScheduleGPipe, SplitPoint, pipeline


class Gru(nn.Module):
    """A minimal gated unit without recurrence, just to have something other than a linear layer."""

    def __init__(self, dim):
        super().__init__()
        self.forget = nn.Linear(dim, dim)
        self.candidate = nn.Linear(dim, dim)

    def forward(self, h):
        f = torch.sigmoid(self.forget(h))
        return (1 - f) * h + f * torch.tanh(self.candidate(f * h))


class Tower(nn.Module):
    def __init__(self, dim=5, depth=3):
        super().__init__()
        self.inp = nn.Linear(4, dim)
        self.cells = nn.ModuleList(Gru(dim) for _ in range(depth))
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        h = self.inp(x)
        for cell in self.cells:
            h = cell(h)
        return self.out(h)


class Rank:
    def __init__(self, rank, world_size):
        self.rank, self.world_size = rank, world_size
        pipe = pipeline(
            Tower(),
            mb_args=(torch.zeros(2, 4),),
            split_spec={"cells.1": SplitPoint.BEGINNING, "cells.2": SplitPoint.BEGINNING},
        )
        self.stage = pipe.build_stage(rank, torch.device("cpu"))
        self.schedule = ScheduleGPipe(self.stage, n_microbatches=3)


class Runner(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        parts = Rank(rank, world_size)
        self.part = parts.stage.submod
        self.rank, self.world_size, self.schedule = rank, world_size, parts.schedule

    def forward(self, x):
        with torch.no_grad():
            if self.rank == 0:
                self.schedule.step(x)
                return {}
            out = self.schedule.step()
        return {"0": out} if self.rank == self.world_size - 1 else {}


def sequential():
    return Tower()


def distributed(rank, world_size):
    return Runner(rank, world_size)


def inputs():
    return (torch.randn(6, 4),)


world_size = 3
TRUTH = "refines"
