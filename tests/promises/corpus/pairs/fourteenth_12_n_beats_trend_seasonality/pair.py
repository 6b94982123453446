"""N-BEATS, interpretable: a trend block and a seasonality block with double residuals; coefficients and bases, separate and fused."""
import math

import torch
from torch import nn

BACK, FORE, DEG, HARM = 6, 4, 3, 2


class Block(nn.Module):
    def __init__(self, n_theta, width=7):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(BACK, width), nn.Linear(width, width)
        self.theta_b = nn.Linear(width, n_theta, bias=False)
        self.theta_f = nn.Linear(width, n_theta, bias=False)

    def thetas(self, x):
        h = torch.relu(self.fc2(torch.relu(self.fc1(x))))
        return self.theta_b(h), self.theta_f(h)


def trend(theta, t):
    return theta @ torch.stack([t ** i for i in range(theta.shape[-1])])


def season(theta, t):
    p = theta.shape[-1] // 2
    s1 = torch.stack([torch.cos(2 * math.pi * i * t) for i in range(p)])
    s2 = torch.stack([torch.sin(2 * math.pi * i * t) for i in range(p)])
    return theta @ torch.cat([s1, s2])


class left(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(DEG), Block(2 * HARM)])

    def forward(self, x):
        total = 0
        tb, tf = torch.arange(BACK) / BACK, torch.arange(FORE) / FORE
        for block, basis in zip(self.blocks, (trend, season)):
            b, f = block.thetas(x)
            x = x - basis(b, tb)
            total = total + basis(f, tf)
        return x, total


def polynomial(n):
    return torch.vander(torch.arange(n) / n, DEG, increasing=True).T


def fourier(n):
    angle = torch.outer(torch.arange(HARM), torch.arange(n)) * (2 * math.pi / n)
    return torch.cat([angle.cos(), angle.sin()])


class right(nn.Module):
    def __init__(self):
        super().__init__()
        ref = left()
        self.mlp, self.theta = nn.ModuleList(), nn.ModuleList()
        for b in ref.blocks:
            self.mlp.append(nn.Sequential(b.fc1, nn.ReLU(), b.fc2, nn.ReLU()))
            theta = nn.Linear(7, 2 * b.theta_b.out_features, bias=False)
            theta.weight.data = torch.cat([b.theta_b.weight.data, b.theta_f.weight.data])
            self.theta.append(theta)
        for i, make in enumerate((polynomial, fourier)):
            back, fore = make(BACK), make(FORE)
            self.register_buffer(f"basis{i}", torch.block_diag(back, fore), persistent=False)

    def forward(self, x):
        out = torch.zeros(x.shape[0], FORE, dtype=x.dtype)
        for i, (mlp, theta) in enumerate(zip(self.mlp, self.theta)):
            both = theta(mlp(x)) @ getattr(self, f"basis{i}")
            x, out = x - both[:, :BACK], out + both[:, BACK:]
        return x, out


def inputs():
    return (torch.randn(3, BACK),)
