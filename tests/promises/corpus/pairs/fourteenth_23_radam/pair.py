"""RAdam: torch's optimizer and one by hand, three minibatches a call (so the rectified branch is reached in the second call)."""
import math

import torch
from torch import nn

LR, B1, B2, EPS = 0.05, 0.9, 0.99, 1e-8


class left(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)
        self.opt = torch.optim.RAdam(self.net.parameters(), lr=LR, betas=(B1, B2), eps=EPS, foreach=False)

    def forward(self, x, y):
        losses = []
        for xb, yb in zip(x, y):
            self.opt.zero_grad()
            loss = (self.net(xb).squeeze(-1) - yb).square().mean()
            loss.backward()
            self.opt.step()
            losses.append(loss.detach())
        return torch.stack(losses)


class right(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 1)
        self.m = [torch.zeros_like(p) for p in self.net.parameters()]
        self.v = [torch.zeros_like(p) for p in self.net.parameters()]
        self.t = 0

    def forward(self, x, y):
        losses = []
        limit = 2 / (1 - B2) - 1
        for i in range(len(x)):
            self.t += 1
            self.net.zero_grad()
            loss = torch.mean((self.net(x[i])[:, 0] - y[i]) ** 2)
            loss.backward()
            c1, c2 = 1 - B1 ** self.t, 1 - B2 ** self.t
            rho = limit - 2 * self.t * B2 ** self.t / c2
            with torch.no_grad():
                for p, m, v in zip(self.net.parameters(), self.m, self.v):
                    m.lerp_(p.grad, 1 - B1)
                    v.copy_(B2 * v + (1 - B2) * p.grad.square())
                    step = LR * m / c1
                    if rho > 5:
                        r = math.sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho))
                        step = step * r * math.sqrt(c2) / (v.sqrt() + EPS)
                    p.sub_(step)
            losses.append(loss.detach())
        return torch.stack(losses)


def inputs():
    return torch.randn(3, 4, 3), torch.randn(3, 4)
