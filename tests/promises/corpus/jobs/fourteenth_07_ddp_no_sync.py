"""DDP with gradient accumulation and an SGD step. Mistake: no_sync() spares the first micro-batch instead of leaving the last one to synchronise."""
import contextlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

MICRO = 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, x):
        return self.body(x)


class Trainer(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def forward(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)
        return loss.detach()


class DDPTrainer(Trainer):
    def forward(self, x, y):
        total = torch.zeros(())
        for i, (xs, ys) in enumerate(zip(x.chunk(MICRO), y.chunk(MICRO))):
            context = self.net.no_sync() if i % MICRO else contextlib.nullcontext()
            with context:
                loss = F.cross_entropy(self.net(xs), ys) / MICRO
                loss.backward()
            total += loss.detach()
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)
        dist.all_reduce(total)
        return total / dist.get_world_size()


def sequential():
    return Trainer(Net())


def distributed(rank, world_size):
    return DDPTrainer(DDP(Net()))


def inputs():
    return torch.randn(8, 6), torch.randint(0, 3, (8,))


world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}

TRUTH = "broken"
