"""PACT: the clipped activation by absolute values and by a clamp, with the clip's gradient."""
import torch
from torch import nn
from torch.nn import functional as F


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)
        self.raw = nn.Parameter(torch.randn(6))

    def result(self, y):
        loss = y.square().mean()
        (grad,) = torch.autograd.grad(loss, self.raw)
        return y.detach(), grad


class Absolute(Base):
    def forward(self, x):
        alpha = F.softplus(self.raw).view(1, -1, 1, 1)
        x = self.conv(x)
        return self.result(0.5 * (x.abs() - (x - alpha).abs() + alpha))


class Clamped(Base):
    def forward(self, x):
        alpha = F.softplus(self.raw)[:, None, None]
        x = self.conv(x)
        return self.result(torch.minimum(F.relu(x), alpha))


def left():
    return Absolute()


def right():
    return Clamped()


def inputs():
    return (3 * torch.randn(2, 3, 6, 7),)
