"""Adagrad ported from Keras, whose accumulators start at 0.1; the port by hand starts them at 0."""
import torch
from torch import nn
from torch.nn import functional as F


def make():
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1))


class left(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = make()
        self.opt = torch.optim.Adagrad(self.net.parameters(), lr=0.05, initial_accumulator_value=0.1, eps=1e-7, foreach=False)

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        self.opt.step()
        return loss.detach()


class right(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = make()
        self.acc = [torch.zeros_like(p) for p in self.net.parameters()]

    def forward(self, x, y):
        for p in self.net.parameters():
            p.grad = None
        loss = (self.net(x) - y).square().mean()
        loss.backward()
        with torch.no_grad():
            for p, a in zip(self.net.parameters(), self.acc):
                a += p.grad ** 2
                p -= 0.05 * p.grad / (a.sqrt() + 1e-7)
        return loss.detach()


def inputs():
    return torch.randn(6, 4), torch.randn(6, 1)
