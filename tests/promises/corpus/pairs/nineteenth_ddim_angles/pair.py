"""Two DDIM steps with v-prediction: through x0 and eps, or as a rotation (Salimans & Ho 2022, appendix D)."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Conv2d(3, 8, 3, padding=1)
        self.time = nn.Linear(1, 8)
        self.outer = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x, phi):
        h = self.inner(x) + self.time(phi[:, None])[:, :, None, None]
        return self.outer(torch.nn.functional.silu(h))


class ThroughX0(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x, angles):
        for step in range(len(angles) - 1):
            now, then = angles[step], angles[step + 1]
            alpha, sigma = (f(now)[:, None, None, None] for f in (torch.cos, torch.sin))
            v = self.net(x, now)
            x0 = alpha * x - sigma * v
            eps = sigma * x + alpha * v
            x = torch.cos(then)[:, None, None, None] * x0 + torch.sin(then)[:, None, None, None] * eps
        return x


class Rotating(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, x, angles):
        shape = (-1, 1, 1, 1)
        for now, then in zip(angles[:-1], angles[1:]):
            delta = (now - then).view(shape)
            x = delta.cos() * x - delta.sin() * self.net(x, now)
        return x


left, right = ThroughX0, Rotating


def inputs():
    angles = torch.rand(3, 2).sort(0, descending=True).values * 1.5
    return torch.randn(2, 3, 4, 5), angles
