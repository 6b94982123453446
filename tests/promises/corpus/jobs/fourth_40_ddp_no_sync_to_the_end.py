"""DDP with gradient accumulation under no_sync."""
import contextlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

TRUTH = "differs"
WHY = "there are 3 microbatches but the sync is due at every 4th, so gradients stay each rank's own and the ranks' weights part"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
MICROBATCHES = 3
SYNC_EVERY = 4


def net():
    torch.manual_seed(36)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        spread = isinstance(self.model, DDP)
        total = torch.zeros((), dtype=x.dtype)
        for i, (part, wanted) in enumerate(zip(x.chunk(MICROBATCHES), y.chunk(MICROBATCHES))):
            quiet = spread and (i + 1) % SYNC_EVERY != 0
            with self.model.no_sync() if quiet else contextlib.nullcontext():
                loss = F.mse_loss(self.model(part), wanted) / MICROBATCHES
                loss.backward()
            total = total + loss.detach()
        self.optimizer.step()
        if spread:
            dist.all_reduce(total)
            total = total / dist.get_world_size()
        return total


def sequential():
    return Step(net())


def distributed(rank, world_size):
    return Step(DDP(net()))


def inputs():
    torch.manual_seed(37)
    return {"x": torch.randn(12, 4), "y": torch.randn(12, 3)}
