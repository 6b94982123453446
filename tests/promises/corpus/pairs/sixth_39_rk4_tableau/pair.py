import copy

import torch
from torch import nn

torch.manual_seed(20)


class Dynamics(nn.Module):
    def __init__(self, dim=3):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, 8), nn.Tanh(), nn.Linear(8, dim))

    def forward(self, t, y):
        return self.net(torch.cat([y, t.expand(y.shape[0], 1)], -1))


class Classic(nn.Module):
    def __init__(self, f, steps=3):
        super().__init__()
        self.f, self.steps = f, steps

    def forward(self, y, t0, t1):
        h = (t1 - t0) / self.steps
        t = t0
        for _ in range(self.steps):
            k1 = self.f(t, y)
            k2 = self.f(t + h / 2, y + h / 2 * k1)
            k3 = self.f(t + h / 2, y + h / 2 * k2)
            k4 = self.f(t + h, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            t = t + h
        return y


class Tableau(nn.Module):
    A = [[], [1 / 2], [0, 1 / 2], [0, 0, 1]]
    B = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
    C = [0, 1 / 2, 1 / 2, 1]

    def __init__(self, f, steps=3):
        super().__init__()
        self.f, self.steps = f, steps

    def forward(self, y, t0, t1):
        h = (t1 - t0) / self.steps
        for n in range(self.steps):
            t = t0 + n * h
            ks = []
            for a, c in zip(self.A, self.C):
                yi = y
                for aj, kj in zip(a, ks):
                    if aj:
                        yi = yi + (aj * h) * kj
                ks.append(self.f(t + c * h, yi))
            y = y + h * sum(b * k for b, k in zip(self.B, ks))
        return y


_f = Dynamics()
left = Classic(_f)
right = Tableau(copy.deepcopy(_f))
inputs = {"y": torch.randn(4, 3), "t0": torch.tensor([0.0]), "t1": torch.tensor([1.5])}
