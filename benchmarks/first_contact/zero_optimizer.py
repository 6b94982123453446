"""ZeroRedundancyOptimizer: each rank steps its share of the weights and tells the others."""
import torch
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 6)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


class Step(nn.Module):
    def __init__(self, model, optimizer):
        super().__init__()
        self.model, self.optimizer = model, optimizer

    def forward(self, x, y):
        self.optimizer.zero_grad()
        ((self.model(x) - y) ** 2).mean().backward()
        self.optimizer.step()
        return {name.removeprefix("module."): p.detach().clone() for name, p in self.model.named_parameters()}


def sequential():
    model = Model()
    return Step(model, torch.optim.Adam(model.parameters(), lr=0.1))


def distributed(rank, world_size):
    model = DistributedDataParallel(Model())
    return Step(model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1))


def inputs():
    return torch.randn(4, 6), torch.randn(4, 6)
