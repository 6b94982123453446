"""PowerSGD of rank 2: gradients are compressed to two thin factors, which are averaged over ranks, orthogonalised and multiplied."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "both factors are linear in the gradient, so averaging them is compressing the averaged gradient"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
expected = {"grad.weight after the call": "partial(avg)"}    # each rank leaves its own share of the gradient


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
        p = orthogonalise(self.mean(g @ self.q))
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
