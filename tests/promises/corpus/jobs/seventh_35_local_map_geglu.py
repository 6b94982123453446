# local_map: the body is written over local shards, placements say what comes in and goes out.
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import local_map


class GeGLU(nn.Module):
    def __init__(self, dim=6, hidden=8):
        super().__init__()
        self.gate = nn.Parameter(torch.randn(dim, hidden) * 0.4)
        self.value = nn.Parameter(torch.randn(dim, hidden) * 0.4)
        self.back = nn.Parameter(torch.randn(hidden, dim) * 0.4)
        self.bias = nn.Parameter(torch.randn(dim))

    def forward(self, x):
        return (nn.functional.gelu(x @ self.gate, approximate="tanh") * (x @ self.value)) @ self.back + self.bias


def body(x, gate, value, back):
    return (nn.functional.gelu(x @ gate, approximate="tanh") * (x @ value)) @ back


class ShardedGeGLU(nn.Module):
    def __init__(self, full, mesh):
        super().__init__()
        self.mesh = mesh
        for name, place in (("gate", Shard(1)), ("value", Shard(1)), ("back", Shard(0)), ("bias", Replicate())):
            param = getattr(full, name)
            self.register_parameter(name, nn.Parameter(distribute_tensor(param.data, mesh, [place])))
        self.body = local_map(
            body,
            out_placements=[Partial()],
            in_placements=([Replicate()], [Shard(1)], [Shard(1)], [Shard(0)]),
            device_mesh=mesh,
        )

    def forward(self, x):
        x = distribute_tensor(x, self.mesh, [Replicate()])
        y = self.body(x, self.gate, self.value, self.back).redistribute(self.mesh, [Replicate()])
        return (y + self.bias).to_local()


def sequential():
    return GeGLU()


def distributed(rank, world_size):
    return ShardedGeGLU(GeGLU(), init_device_mesh("cpu", (world_size,)))


def inputs():
    return (torch.randn(3, 6),)


world_size = 4
TRUTH = "refines"
