"""Data parallel Muon step: gradients averaged by async all-reduces, each matrix orthogonalised (Newton-Schulz) by the one rank that owns it and broadcast from there, vectors by SGD everywhere."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

LR, STEPS = 0.05, 3


def orthogonalise(g):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (g.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    for _ in range(STEPS):
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return (x.T if tall else x) * max(1, g.shape[0] / g.shape[1]) ** 0.5


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 3)
        )

    def forward(self, x, y):
        return F.cross_entropy(self.layers(x), y)


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model()

    def forward(self, x, y):
        loss = self.model(x, y)
        loss.backward()
        with torch.no_grad():
            for p in self.model.parameters():
                p.sub_(LR * (orthogonalise(p.grad) if p.ndim == 2 else p.grad))
                p.grad = None
        return loss.detach()


class ParallelStep(nn.Module):
    def __init__(self, rank, n):
        super().__init__()
        self.model, self.rank, self.n = Model(), rank, n

    def forward(self, x, y):
        loss = self.model(x, y)
        loss.backward()
        params = list(self.model.parameters())
        works = [dist.all_reduce(p.grad, async_op=True) for p in params]
        with torch.no_grad():
            pending, matrices = [], 0
            for p, work in zip(params, works):
                work.wait()
                p.grad /= self.n
                if p.ndim < 2:
                    p.sub_(LR * p.grad)
                    continue
                owner = matrices % self.n
                matrices += 1
                if owner == self.rank:
                    p.sub_(LR * orthogonalise(p.grad))
                pending.append(dist.broadcast(p.data, src=owner, async_op=True))
            for work in pending:
                work.wait()
            for p in params:
                p.grad = None
            loss = loss.detach() / self.n
            dist.all_reduce(loss)
        return loss


def sequential():
    return Step()


def distributed(rank, world_size):
    return ParallelStep(rank, world_size)


def inputs():
    return torch.randn(6, 4), torch.randint(0, 3, (6,))


world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
TRUTH = "refines"
