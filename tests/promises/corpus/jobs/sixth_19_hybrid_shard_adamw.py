"""Hybrid sharding: fully_shard on a (replicate, shard) mesh, 4 ranks, a quarter of the batch each. Gradients are
clipped by their global norm, then one step of AdamW."""
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

world_size = 4
relations = {"x": "shard(0)", "y": "shard(0)"}


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(4, 8)
        self.l2 = nn.Linear(8, 8)
        self.l3 = nn.Linear(8, 2)

    def forward(self, x):
        h = torch.tanh(self.l1(x))
        return self.l3(h + torch.tanh(self.l2(h)))


class Step(nn.Module):
    def __init__(self, shard):
        super().__init__()
        torch.manual_seed(0)
        self.model = Tiny()
        if shard:
            mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard"))
            for layer in (self.model.l1, self.model.l2):
                fully_shard(layer, mesh=mesh)
            fully_shard(self.model, mesh=mesh)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=3e-2, weight_decay=0.1)

    def forward(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
        self.opt.step()
        self.opt.zero_grad()
        return norm.full_tensor() if hasattr(norm, "full_tensor") else norm


def sequential():
    return Step(shard=False)


def distributed(rank, world_size):
    return Step(shard=True)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 4), torch.randn(8, 2))


TRUTH = "refines"
