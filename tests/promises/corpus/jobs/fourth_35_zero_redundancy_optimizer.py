"""DDP with ZeroRedundancyOptimizer: each rank keeps Adam's state of its share of the weights and broadcasts what it stepped."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

TRUTH = "refines"
WHY = "every weight is stepped by exactly one rank with the averaged gradient and then broadcast"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


def net():
    torch.manual_seed(26)
    return nn.Sequential(nn.Linear(4, 6), nn.Softplus(), nn.Linear(6, 6), nn.Softplus(), nn.Linear(6, 1))


class Step(nn.Module):
    def __init__(self, model, optimizer):
        super().__init__()
        self.model, self.optimizer = model, optimizer

    def forward(self, x, y):
        self.optimizer.zero_grad()
        F.huber_loss(self.model(x).squeeze(-1), y).backward()
        self.optimizer.step()
        return {name.removeprefix("module."): p.detach().clone() for name, p in self.model.named_parameters()}


def sequential():
    model = net()
    return Step(model, torch.optim.Adam(model.parameters(), lr=0.05))


def distributed(rank, world_size):
    model = DDP(net())
    return Step(model, ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.05))


def inputs():
    torch.manual_seed(27)
    return {"x": torch.randn(8, 4), "y": torch.randn(8)}
