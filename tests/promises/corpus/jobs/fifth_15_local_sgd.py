"""Local SGD with momentum over two workers: two steps apart, then weights and momenta are averaged."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "a worker is a rank, and all that is averaged in one process is averaged over ranks"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}


def step(w, m, x, y):
    w = w.detach().requires_grad_()
    loss = F.binary_cross_entropy_with_logits(x @ w, y)
    (g,) = torch.autograd.grad(loss, w)
    m = 0.9 * m + g
    return w.detach() - 0.2 * m, m


class LocalSgd(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(19)
        self.w = nn.Parameter(torch.randn(4))

    def forward(self, x, y):
        w, m = self.w.detach(), torch.zeros(4)
        for _ in range(2):
            ws, ms = [], []
            for xs, ys in zip(x.chunk(2), y.chunk(2)):
                v, n = w, m
                for i in range(2):
                    v, n = step(v, n, xs[i::2], ys[i::2])
                ws.append(v)
                ms.append(n)
            w, m = torch.stack(ws).mean(0), torch.stack(ms).mean(0)
        return w


class Worker(LocalSgd):
    def forward(self, x, y):
        w, m = self.w.detach(), torch.zeros(4)
        for _ in range(2):
            for i in range(2):
                w, m = step(w, m, x[i::2], y[i::2])
            for t in (w, m):
                dist.all_reduce(t)
                t /= dist.get_world_size()
        return w


def sequential():
    return LocalSgd()


def distributed(rank, world_size):
    return Worker()


def inputs():
    torch.manual_seed(20)
    return {"x": torch.randn(8, 4), "y": torch.randint(0, 2, (8,)).float()}
