# EQUAL: Training step: MSE of an MLP, clip_grad_norm_, torch.optim.AdamW vs the same by hand with autograd.grad and own moments
import torch
from torch import nn
import torch.nn.functional as F

LR, B1, B2, EPS, WD, MAX = 1e-2, 0.9, 0.95, 1e-8, 0.1, 0.5


def mlp():
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))


class Torch(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=LR, betas=(B1, B2), eps=EPS, weight_decay=WD)

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), MAX)
        self.opt.step()
        return loss.detach()


class Hand(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.net = mlp()
        self.net.load_state_dict(src.net.state_dict())
        self.m = [torch.zeros_like(p) for p in self.net.parameters()]
        self.v = [torch.zeros_like(p) for p in self.net.parameters()]
        self.t = 0

    def forward(self, x, y):
        params = list(self.net.parameters())
        loss = ((self.net(x) - y) ** 2).mean()
        grads = torch.autograd.grad(loss, params)
        total = torch.sqrt(sum((g * g).sum() for g in grads))
        coef = torch.clamp(MAX / (total + 1e-6), max=1.0)
        self.t += 1
        with torch.no_grad():
            for p, g, m, v in zip(params, grads, self.m, self.v):
                g = g * coef
                m.mul_(B1).add_(g, alpha=1 - B1)
                v.mul_(B2).addcmul_(g, g, value=1 - B2)
                mhat = m / (1 - B1**self.t)
                vhat = v / (1 - B2**self.t)
                p.sub_(LR * WD * p)
                p.sub_(LR * mhat / (vhat.sqrt() + EPS))
        return loss.detach()


left = Torch()
right = Hand(left)


def inputs():
    return torch.randn(3, 4), torch.randn(3, 2)
