"""A training step with the centered RMSprop of the Atari papers."""
import torch
from torch import nn
from torch.nn import functional as F

LR, ALPHA, EPS, MOMENTUM, DECAY = 0.01, 0.95, 1e-2, 0.9, 1e-3


class ByTorch:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=LR, alpha=ALPHA, eps=EPS, momentum=MOMENTUM,
                                             weight_decay=DECAY, centered=True)

    def __call__(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class ByHand:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
        self.mean = [torch.zeros_like(p) for p in self.net.parameters()]
        self.square = [torch.zeros_like(p) for p in self.net.parameters()]
        self.velocity = [torch.zeros_like(p) for p in self.net.parameters()]

    def __call__(self, x, y):
        for p in self.net.parameters():
            p.grad = None
        loss = (self.net(x) - y).square().mean()
        loss.backward()
        with torch.no_grad():
            for n, p in enumerate(self.net.parameters()):
                g = p.grad + DECAY * p
                self.mean[n] = self.mean[n] + (1 - ALPHA) * (g - self.mean[n])
                self.square[n] = ALPHA * self.square[n] + (1 - ALPHA) * g * g
                spread = torch.sqrt(self.square[n] - self.mean[n] ** 2) + EPS
                self.velocity[n] = MOMENTUM * self.velocity[n] + g / spread
                p -= LR * self.velocity[n]
        return loss.detach()


def inputs():
    return torch.randn(5, 4), torch.randn(5, 2)
