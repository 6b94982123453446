"""A tensor parallel MLP whose row-parallel sum is torch.distributed.nn's differentiable all-reduce."""
import torch
import torch.distributed.nn.functional as dnf
import torch.nn.functional as F
from torch import nn

TRUTH = "differs"
WHY = "the backward of that all-reduce sums the replicated gradient over ranks, so gradients of both shards are twice as large"

world_size = 2
expected = {"grad_up": "shard(0)", "grad_down": "shard(1)"}


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(40)
        self.up, self.down = nn.Linear(4, 8, bias=False), nn.Linear(8, 3, bias=False)

    def join(self, t):
        return t

    def forward(self, x, y):
        self.zero_grad()
        out = self.join(self.down(F.gelu(self.up(x))))
        loss = F.mse_loss(out, y)
        loss.backward()
        return {"loss": loss.detach(), "grad_up": self.up.weight.grad.clone(), "grad_down": self.down.weight.grad.clone()}


class ShardedMLP(MLP):
    def __init__(self, rank, world_size):
        super().__init__()
        self.up.weight = nn.Parameter(self.up.weight.data.chunk(world_size, 0)[rank].clone())
        self.down.weight = nn.Parameter(self.down.weight.data.chunk(world_size, 1)[rank].clone())

    def join(self, t):
        return dnf.all_reduce(t)


def sequential():
    return MLP()


def distributed(rank, world_size):
    return ShardedMLP(rank, world_size)


def inputs():
    torch.manual_seed(41)
    return {"x": torch.randn(5, 4), "y": torch.randn(5, 3)}
