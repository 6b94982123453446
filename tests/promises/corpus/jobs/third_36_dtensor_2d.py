import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

TRUTH = "refines"
WHY = 'DTensors by hand on a 2 × 2 mesh: batch over dp, weights over tp, explicit redistribute between the layers'

mesh = {"dp": 2, "tp": 2}
world_size = 4


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(7)
        self.a = nn.Parameter(torch.randn(6, 8))
        self.b = nn.Parameter(torch.randn(6, 8))
        self.c = nn.Parameter(torch.randn(8, 6))

    def forward(self, x):
        h = torch.sigmoid(x @ self.a) * (x @ self.b)
        y = h @ self.c
        return F.softmax(y, dim=-1)


class DGated(nn.Module):
    def __init__(self, mesh):
        super().__init__()
        whole = Gated()
        self.mesh = mesh
        self.a = nn.Parameter(distribute_tensor(whole.a.data, mesh, [Replicate(), Shard(1)]))
        self.b = nn.Parameter(distribute_tensor(whole.b.data, mesh, [Replicate(), Shard(1)]))
        self.c = nn.Parameter(distribute_tensor(whole.c.data, mesh, [Replicate(), Shard(0)]))

    def forward(self, x):
        x = DTensor.from_local(x, self.mesh, [Shard(0), Replicate()])
        h = torch.sigmoid(x @ self.a) * (x @ self.b)
        y = (h @ self.c).redistribute(placements=[Shard(0), Replicate()])
        return F.softmax(y, dim=-1).redistribute(placements=[Replicate(), Replicate()]).to_local()


def sequential():
    return Gated()


def distributed(rank, world_size, mesh):
    return DGated(mesh)


def inputs():
    torch.manual_seed(0)
    return (torch.randn(4, 6),)


relations = {"x": "shard(0) over dp"}
