"""Second moments of a batch spread over a 2-D mesh: DTensor leaves them as a double partial sum, reduce-scattered to tiles."""
import torch
from torch import nn
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

TRUTH = "refines"
WHY = "the doubly partial Gram matrix is redistributed to tiles before the nonlinearity, and gathered whole at the end"

world_size = 4
mesh = {"row": 2, "col": 2}


class Whiten(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(11)
        self.mix = nn.Parameter(torch.randn(8, 6) / 3)

    def forward(self, x):
        gram = x.t() @ x / x.shape[0]
        gate = torch.tanh(gram)
        return (x @ gate) @ self.mix


class WhitenOnMesh(nn.Module):
    def __init__(self, whole, mesh):
        super().__init__()
        self.mesh = mesh
        self.mix = nn.Parameter(distribute_tensor(whole.mix.data, mesh, [Replicate(), Shard(1)]))

    def forward(self, x):
        x = distribute_tensor(x, self.mesh, [Shard(0), Shard(0)])
        gram = (x.t() @ x) / x.shape[0]                       # Partial over both axes
        gate = torch.tanh(gram.redistribute(placements=[Shard(0), Shard(1)]))
        gate = gate.redistribute(placements=[Replicate(), Replicate()])
        y = x.redistribute(placements=[Shard(0), Replicate()]) @ gate
        return (y @ self.mix).full_tensor()


def sequential():
    return Whiten()


def distributed(rank, world_size, mesh):
    return WhitenOnMesh(Whiten(), mesh)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(12, 8),)
