"""A step of LoRA fine-tuning under fully_shard: the frozen trunk and the adapters are both sharded."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
import torch.nn.functional as F


class LoRA(nn.Module):
    def __init__(self, inner, outer, rank=2):
        super().__init__()
        self.base = nn.Linear(inner, outer)
        self.a = nn.Parameter(torch.randn(rank, inner) / 2)
        self.b = nn.Parameter(torch.randn(outer, rank) / 2)
        self.base.requires_grad_(False)

    def forward(self, x):
        return self.base(x) + 2.0 * F.linear(F.linear(x, self.a), self.b)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([LoRA(6, 8), LoRA(8, 6)])
        self.head = nn.Linear(6, 2)
        self.head.requires_grad_(False)

    def forward(self, x):
        for block in self.blocks:
            x = F.gelu(block(x))
        return self.head(x)


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1, momentum=0.9)

    def forward(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return self.report(loss.detach())

    def report(self, loss):
        return loss


class ShardedStep(Step):
    def report(self, loss):
        loss = loss.clone()
        dist.all_reduce(loss)
        return loss / dist.get_world_size()


def sequential():
    return Step(Model())


def distributed(rank, world_size):
    mesh = init_device_mesh("cpu", (world_size,))
    model = Model()
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return ShardedStep(model)


def inputs():
    return torch.randn(8, 6), torch.randn(8, 2)


world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


TRUTH = "refines"
