"""Flow matching with timesteps shifted by resolution, as in FLUX, and in the logit's domain."""
import math

import torch
from torch import nn

WIDTH = 6
SLOPE = (1.15 - 0.5) / (4096 - 256)


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.velocity = nn.Linear(WIDTH + 1, WIDTH)

    def predict(self, x, t):
        return self.velocity(torch.cat([x, t.expand(-1, x.shape[1], 1)], -1))


class Shifted(Base):
    def forward(self, x0, noise, u):
        mu = 100 * x0.shape[1] * SLOPE + (0.5 - SLOPE * 256)
        t = torch.sigmoid(u)
        t = math.exp(mu) / (math.exp(mu) + (1 / t - 1))
        t = t.view(-1, 1, 1)
        xt = (1 - t) * x0 + t * noise
        v = self.predict(xt, t)
        loss = (v - (noise - x0)).square().mean(dim=(1, 2))
        return loss, xt - t * v


class Logit(Base):
    def forward(self, x0, noise, u):
        mu = 0.5 + SLOPE * (100 * x0.shape[1] - 256)
        t = torch.sigmoid(u + mu)[:, None, None]
        straight = noise - x0
        xt = torch.addcmul(x0, t, straight)
        error = self.predict(xt, t) - straight
        return error.pow(2).flatten(1).mean(1), x0 - t * error


def left():
    return Shifted()


def right():
    return Logit()


def inputs():
    return torch.randn(3, 5, WIDTH), torch.randn(3, 5, WIDTH), torch.randn(3)
