"""Hybrid sharding on a 2-D mesh with the library's own clip_grad_norm_ on sharded gradients."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

TRUTH = "refines"
WHY = "gradients are reduce-scattered in a shard group and all-reduced across replicas, and the norm of DTensors is the global one"

world_size = 4
mesh = {"replicate": 2, "shard": 2}
relations = {"x": "shard(0) over replicate, shard(0) over shard", "y": "shard(0) over replicate, shard(0) over shard"}


def net():
    torch.manual_seed(16)
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 4))


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.net = model
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.5)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        F.mse_loss(self.net(x), y).backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), 0.05)
        self.optimizer.step()
        return norm.full_tensor() if isinstance(norm, DTensor) else norm


def sequential():
    return Step(net())


def distributed(rank, world_size, mesh):
    model = net()
    fully_shard(model[0], mesh=mesh)
    fully_shard(model[2], mesh=mesh)
    return Step(fully_shard(model, mesh=mesh))


def inputs():
    torch.manual_seed(17)
    return {"x": torch.randn(8, 6), "y": torch.randn(8, 4) + 1.0}
