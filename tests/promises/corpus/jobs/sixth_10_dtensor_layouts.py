"""Two matmuls and a softmax in between, written with DTensors on a 2 x 2 mesh. The answer is a DTensor, too."""
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

world_size = 4


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a = nn.Parameter(torch.randn(6, 8))
        self.b = nn.Parameter(torch.randn(8, 4))

    def forward(self, x):
        return torch.softmax(x @ self.a, -1) @ self.b


class MixOnMesh(Mix):
    def __init__(self, mesh):
        super().__init__()
        self.mesh = mesh
        self.a = nn.Parameter(distribute_tensor(self.a.detach(), mesh, [Replicate(), Shard(1)]))
        self.b = nn.Parameter(distribute_tensor(self.b.detach(), mesh, [Replicate(), Shard(0)]))

    def forward(self, x):
        rows = DTensor.from_local(x, self.mesh, [Replicate(), Replicate()]).redistribute(placements=[Shard(0), Replicate()])
        h = (rows @ self.a).redistribute(placements=[Shard(0), Replicate()]).softmax(-1)
        h = h.redistribute(placements=[Shard(0), Shard(1)])
        return (h @ self.b).redistribute(placements=[Shard(0), Shard(1)])


def sequential():
    return Mix()


def distributed(rank, world_size):
    return MixOnMesh(init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model")))


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 6),)


TRUTH = "refines"
