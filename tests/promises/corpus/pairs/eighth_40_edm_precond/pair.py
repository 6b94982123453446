"""EDM preconditioning (Karras et al. 2022) around a small denoiser, with the weighted training loss."""
import math

import torch
from torch import nn

SD = 0.5


class Net(nn.Module):
    def __init__(self, d=8, h=24):
        super().__init__()
        self.inp, self.emb, self.out = nn.Linear(d, h), nn.Linear(8, h), nn.Linear(h, d)
        self.register_buffer("freqs", torch.arange(1, 5) * math.pi)

    def forward(self, x, c):
        ph = c[:, None] * self.freqs
        e = self.emb(torch.cat([ph.cos(), ph.sin()], -1))
        return self.out(nn.functional.silu(self.inp(x) + e))


class Precond(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Net()

    def forward(self, y, noise, rnd):
        sigma = (rnd * 1.2 - 1.2).exp().unsqueeze(1)
        x = y + sigma * noise
        c_skip = SD ** 2 / (sigma ** 2 + SD ** 2)
        c_out = sigma * SD / (sigma ** 2 + SD ** 2).sqrt()
        c_in = 1 / (SD ** 2 + sigma ** 2).sqrt()
        D = c_skip * x + c_out * self.model(c_in * x, sigma.flatten().log() / 4)
        weight = (sigma ** 2 + SD ** 2) / (sigma * SD) ** 2
        return (weight * (D - y) ** 2).mean()


class Rewritten(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.model = net

    @staticmethod
    def coefficients(sigma):
        var = sigma.square() + SD ** 2
        inv = var.rsqrt()
        return {"skip": SD ** 2 / var, "out": sigma * SD / var, "in": inv, "noise": sigma.log() * 0.25}

    def forward(self, y, noise, rnd):
        log_sigma = 1.2 * rnd - 1.2
        sigma = torch.exp(log_sigma)
        c = self.coefficients(sigma)
        x = torch.addcmul(y, sigma[:, None], noise)
        pred = self.model(c["in"][:, None] * x, c["noise"])
        den = torch.lerp(torch.zeros_like(x), x, c["skip"][:, None]) + c["out"][:, None] * pred
        lam = 1 / SD ** 2 + 1 / sigma ** 2
        return (lam[:, None] * (den - y).square()).mean()


left = Precond()
right = Rewritten(left.model)
inputs = (torch.randn(4, 8), torch.randn(4, 8), torch.randn(4))
