"""PowerSGD of rank 2, whose first factor is made orthogonal before it is averaged."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = "the mean of orthogonal factors is not the orthogonal factor of the mean"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


def orthogonalise(p):
    columns = []
    for j in range(p.shape[1]):
        c = p[:, j]
        for b in columns:
            c = c - (b @ c) * b
        columns.append(c / (c.norm() + 1e-8))
    return torch.stack(columns, 1)


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(6)
        self.weight = nn.Parameter(0.5 * torch.randn(5, 4))
        self.register_buffer("q", torch.randn(4, 2))

    def mean(self, t):
        return t

    def forward(self, x, y):
        self.weight.grad = None
        loss = F.mse_loss(torch.tanh(x @ self.weight), y)
        loss.backward()
        g = self.weight.grad
        p = self.mean(orthogonalise(g @ self.q))
        q = self.mean(g.t() @ p)
        return self.weight.detach() - 0.1 * p @ q.t(), self.mean(loss.detach())


class StepParallel(Step):
    def mean(self, t):
        t = t / dist.get_world_size()
        dist.all_reduce(t)
        return t


def sequential():
    return Step()


def distributed(rank, world_size):
    return StepParallel()


def inputs():
    torch.manual_seed(7)
    return {"x": torch.randn(6, 5), "y": torch.rand(6, 4)}
