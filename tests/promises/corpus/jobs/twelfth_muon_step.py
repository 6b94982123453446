"""Distributed Muon: gradients averaged over ranks, each rank orthogonalises the momentum of the matrices it owns, updates broadcast from their owners."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

FEATURES, HIDDEN, LATENT, OUT = 6, 8, 5, 3
LR, MOMENTUM = 0.05, 0.95


def newton_schulz(g, steps=2, a=3.4445, b=-4.7750, c=2.0315):
    tall = g.shape[0] > g.shape[1]
    x = g.t() if tall else g
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        s = x @ x.t()
        x = a * x + (b * s + c * s @ s) @ x
    return x.t() if tall else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(FEATURES, HIDDEN, bias=False)
        self.second = nn.Linear(HIDDEN, LATENT, bias=False)
        self.third = nn.Linear(LATENT, OUT, bias=False)

    def forward(self, x):
        return self.third(torch.tanh(self.second(torch.tanh(self.first(x)))))


class Muon(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.momenta = [torch.zeros_like(p) for p in net.parameters()]

    def update(self, p, momentum):
        momentum.mul_(MOMENTUM).add_(p.grad)
        nesterov = p.grad + MOMENTUM * momentum
        return newton_schulz(nesterov) * max(1, p.shape[0] / p.shape[1]) ** 0.5

    @torch.no_grad()
    def step(self):
        for p, momentum in zip(self.net.parameters(), self.momenta):
            p.add_(self.update(p, momentum), alpha=-LR)

    def forward(self, x, y):
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        self.step()
        self.net.zero_grad(set_to_none=True)
        return loss.detach()


class DistributedMuon(Muon):
    def __init__(self, net, rank, world_size):
        super().__init__(net)
        self.rank, self.world = rank, world_size

    @torch.no_grad()
    def step(self):
        params = list(self.net.parameters())
        for p in params:
            dist.all_reduce(p.grad)
            p.grad.div_(self.world)
        for i, p in enumerate(params):
            owner = i % self.world
            update = self.update(p, self.momenta[i]) if owner == self.rank else torch.empty_like(p)
            update = update.contiguous()
            dist.broadcast(update, src=owner)
            p.add_(update, alpha=-LR)

    def forward(self, x, y):
        loss = super().forward(x, y)
        dist.all_reduce(loss)
        return loss / self.world


def sequential():
    return Muon(Net())


def distributed(rank, world_size):
    return DistributedMuon(Net(), rank, world_size)


def inputs():
    return torch.randn(8, FEATURES), torch.randn(8, OUT)


world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
TRUTH = "refines"
