"""A pipeline of two stages trained by hand: activations forward, their gradients back, three micro-batches, gradients accumulated."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "every micro-batch counts a third, and the second stage sends back the gradient of what it was sent"

world_size = 2
MICRO = 3


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(23)
        self.first = nn.Sequential(nn.Linear(4, 6), nn.Tanh())
        self.second = nn.Sequential(nn.Linear(6, 6), nn.SiLU(), nn.Linear(6, 3))

    def forward(self, x, y):
        self.zero_grad()
        loss = F.mse_loss(self.second(self.first(x)), y)
        loss.backward()
        return loss.detach(), [p.grad for p in self.first.parameters()], [p.grad for p in self.second.parameters()]


class Staged(Whole):
    def forward(self, x, y):
        self.zero_grad()
        rank = dist.get_rank()
        xs, ys = x.chunk(MICRO), y.chunk(MICRO)
        total = torch.zeros(())
        if rank == 0:
            sent = []
            for part in xs:
                h = self.first(part)
                dist.send(h.detach(), dst=1)
                sent.append(h)
            for h in sent:
                grad = torch.empty_like(h)
                dist.recv(grad, src=1)
                h.backward(grad)
        else:
            got = []
            for part in xs:
                h = torch.empty(part.shape[0], 6)
                dist.recv(h, src=0)
                got.append(h.requires_grad_())
            for h, target in zip(got, ys):
                loss = F.mse_loss(self.second(h), target) / MICRO
                loss.backward()
                total += loss.detach()
                dist.send(h.grad, dst=0)
        stages = [p.grad if rank == 0 else torch.zeros_like(p) for p in self.first.parameters()], [
            p.grad if rank == 1 else torch.zeros_like(p) for p in self.second.parameters()
        ]
        for src, grads in enumerate(stages):
            for g in grads:
                dist.broadcast(g, src=src)
        dist.broadcast(total, src=1)
        return total, *stages


def sequential():
    return Whole()


def distributed(rank, world_size):
    return Staged()


def inputs():
    torch.manual_seed(24)
    return torch.randn(6, 4), torch.randn(6, 3)
