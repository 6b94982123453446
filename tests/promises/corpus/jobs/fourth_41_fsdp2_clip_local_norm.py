"""FSDP2 with clipping written by hand over the gradients' local shards."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

TRUTH = "differs"
WHY = "each rank clips by the norm of its own shards, which was never summed over ranks"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


def net():
    torch.manual_seed(38)
    return nn.Sequential(nn.Linear(5, 8), nn.SiLU(), nn.Linear(8, 4))


def clip(params, limit):
    grads = [p.grad.to_local() if isinstance(p.grad, DTensor) else p.grad for p in params]
    norm = torch.stack([g.pow(2).sum() for g in grads]).sum().sqrt()
    for g in grads:
        g.mul_((limit / (norm + 1e-6)).clamp(max=1.0))


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.net = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        F.mse_loss(self.net(x), y).backward()
        clip(list(self.net.parameters()), 0.1)
        self.optimizer.step()
        return tuple(p.full_tensor() if isinstance(p, DTensor) else p.detach().clone() for p in self.net.parameters())


def sequential():
    return Step(net())


def distributed(rank, world_size):
    mesh = init_device_mesh("cpu", (world_size,))
    model = net()
    fully_shard(model[0], mesh=mesh)
    return Step(fully_shard(model, mesh=mesh))


def inputs():
    torch.manual_seed(39)
    return {"x": torch.randn(6, 5), "y": torch.randn(6, 4) + 1.0}
