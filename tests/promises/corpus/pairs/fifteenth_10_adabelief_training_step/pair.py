"""AdaBelief over a small regression, in the form of its authors' optimizer and over flat tensors."""
import torch
from torch import nn
from torch.nn import functional as F

LR, B1, B2, EPS = 0.05, 0.9, 0.999, 1e-8


class Authors(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(4, 6), nn.SiLU(), nn.Linear(6, 2))
        self.state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.model.parameters()]
        self.steps = 0

    def forward(self, x, y):
        self.steps += 1
        self.model.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        c1, c2 = 1 - B1**self.steps, 1 - B2**self.steps
        with torch.no_grad():
            for p, (m, s) in zip(self.model.parameters(), self.state):
                m.mul_(B1).add_(p.grad, alpha=1 - B1)
                belief = p.grad - m
                s.mul_(B2).addcmul_(belief, belief, value=1 - B2)
                denominator = (s.sqrt() / c2**0.5).add_(EPS)
                p.addcdiv_(m, denominator, value=-LR / c1)
        return loss.detach()


class Rewritten(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(4, 6), nn.SiLU(), nn.Linear(6, 2))
        n = sum(p.numel() for p in self.model.parameters())
        self.mean, self.spread = torch.zeros(n), torch.zeros(n)
        self.steps = 0

    def forward(self, x, y):
        self.steps += 1
        self.model.zero_grad()
        loss = (self.model(x) - y).square().mean()
        loss.backward()
        params = list(self.model.parameters())
        grad = torch.cat([p.grad.flatten() for p in params])
        self.spread = torch.lerp(self.spread, (grad - self.mean).square(), 1 - B2)
        self.mean = torch.lerp(self.mean, grad, 1 - B1)
        m = self.mean / (1 - B1**self.steps)
        s = self.spread / (1 - B2**self.steps)
        step = LR * m / (s.sqrt() + EPS)
        with torch.no_grad():
            for p, d in zip(params, step.split([p.numel() for p in params])):
                p.sub_(d.view_as(p))
        return loss.detach()


def left():
    return Authors()


def right():
    return Rewritten()


def inputs():
    return torch.randn(5, 4), torch.randn(5, 2)
