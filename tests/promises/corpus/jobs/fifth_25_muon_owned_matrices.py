"""Muon over ranks: each rank orthogonalises the momentum of its own matrices by Newton-Schulz, and broadcasts the updates."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "gradients are averaged first, every matrix has one owner, and its update is gathered by all"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


def newton_schulz(g, steps=1):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (g.norm() + 1e-7)
    for _ in range(steps):
        m = x @ x.T
        x = a * x + (b * m + c * m @ m) @ x
    return x


class Train(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(35)
        self.a = nn.Parameter(torch.randn(3, 3))
        self.b = nn.Parameter(torch.randn(3, 3))

    def mean(self, g):
        return g

    def update(self, grads):
        return [newton_schulz(g) for g in grads]

    def forward(self, x, y):
        a, b = (p.detach().clone().requires_grad_() for p in (self.a, self.b))
        loss = F.mse_loss(torch.relu(x @ a) @ b, y)
        grads = [self.mean(g) for g in torch.autograd.grad(loss, (a, b))]
        return [p.detach() - 0.02 * u for p, u in zip((a, b), self.update(grads))]


class TrainParallel(Train):
    def mean(self, g):
        g = g.contiguous()
        dist.all_reduce(g)
        return g / dist.get_world_size()

    def update(self, grads):
        rank, size = dist.get_rank(), dist.get_world_size()
        mine = newton_schulz(grads[rank])
        every = torch.empty(size * mine.shape[0], mine.shape[1])
        dist.all_gather_into_tensor(every, mine.contiguous())
        return list(every.chunk(size))


def sequential():
    return Train()


def distributed(rank, world_size):
    return TrainParallel()


def inputs():
    torch.manual_seed(36)
    return {"x": torch.randn(4, 3), "y": torch.randn(4, 3)}
