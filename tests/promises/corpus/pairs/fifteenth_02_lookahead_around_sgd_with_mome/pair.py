"""Lookahead around SGD with momentum: the wrapper, and one loop over the parameters."""
import torch
from torch import nn
from torch.nn import functional as F

K, ALPHA, LR, MOMENTUM = 2, 0.4, 0.1, 0.9


def net():
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = net()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=LR, momentum=MOMENTUM)
        self.slow = [p.detach().clone() for p in self.model.parameters()]
        self.calls = 0

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.opt.step()
        self.calls += 1
        if self.calls % K == 0:
            with torch.no_grad():
                for slow, p in zip(self.slow, self.model.parameters()):
                    slow.add_(p - slow, alpha=ALPHA)
                    p.copy_(slow)
        return loss.detach()


class Flat(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = net()
        self.velocity = [torch.zeros_like(p) for p in self.model.parameters()]
        self.anchor = [p.detach().clone() for p in self.model.parameters()]
        self.calls = 0

    def forward(self, x, y):
        self.calls += 1
        params = list(self.model.parameters())
        for p in params:
            p.grad = None
        loss = (self.model(x) - y).square().mean()
        loss.backward()
        with torch.no_grad():
            for i, p in enumerate(params):
                self.velocity[i] = MOMENTUM * self.velocity[i] + p.grad
                new = p - LR * self.velocity[i]
                if self.calls % K == 0:
                    new = ALPHA * new + (1 - ALPHA) * self.anchor[i]
                    self.anchor[i] = new.clone()
                p.copy_(new)
        return loss.detach()


def left():
    return Wrapped()


def right():
    return Flat()


def inputs():
    return torch.randn(6, 5), torch.randn(6, 3)
