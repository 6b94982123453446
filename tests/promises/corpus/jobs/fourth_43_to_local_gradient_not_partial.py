"""A replicated DTensor weight used on each rank's own rows through to_local()."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

TRUTH = "differs"
WHY = "to_local() without grad_placements=[Partial()] takes each rank's part of the gradient for the whole of it"

world_size = 2


class Poly(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(42)
        self.w = nn.Parameter(torch.randn(4, 3))
        self.scale = nn.Parameter(torch.rand(3) + 0.5)

    def forward(self, x, y):
        self.zero_grad()
        loss = F.mse_loss(torch.tanh(x @ self.w) * self.scale, y)
        loss.backward()
        return loss.detach(), self.w.grad.clone(), self.scale.grad.clone()


class PolyOnMesh(nn.Module):
    def __init__(self, world_size):
        super().__init__()
        whole = Poly()
        self.mesh = init_device_mesh("cpu", (world_size,))
        self.w = nn.Parameter(distribute_tensor(whole.w.data, self.mesh, [Replicate()]))
        self.scale = nn.Parameter(distribute_tensor(whole.scale.data, self.mesh, [Replicate()]))

    def forward(self, x, y):
        self.zero_grad()
        rows = distribute_tensor(x, self.mesh, [Shard(0)]).to_local()
        wanted = distribute_tensor(y, self.mesh, [Shard(0)])
        hidden = torch.tanh(rows @ self.w.to_local())
        hidden = DTensor.from_local(hidden, self.mesh, [Shard(0)], run_check=False)
        loss = F.mse_loss(hidden * self.scale, wanted)
        loss.backward()
        return loss.detach().full_tensor(), self.w.grad.full_tensor(), self.scale.grad.full_tensor()


def sequential():
    return Poly()


def distributed(rank, world_size):
    return PolyOnMesh(world_size)


def inputs():
    torch.manual_seed(43)
    return {"x": torch.randn(6, 4), "y": torch.randn(6, 3)}
