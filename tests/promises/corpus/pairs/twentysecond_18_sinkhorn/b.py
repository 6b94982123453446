"""Sinkhorn–Knopp as in Cuturi's paper: a kernel exp(−C/ε) whose rows and columns are scaled in turn."""

import torch
from torch import nn


class SinkhornKnopp(nn.Module):
    def __init__(self, size=6, dim=4, eps=0.5, rounds=3):
        super().__init__()
        self.embed_x = nn.Linear(size, dim)
        self.embed_y = nn.Linear(size, dim)
        self.weigh = nn.Linear(dim, 1)
        self.eps, self.rounds = eps, rounds

    def squared_distances(self, u, v):
        return u.square().sum(-1)[:, :, None] + v.square().sum(-1)[:, None, :] - 2 * torch.bmm(u, v.mT)

    def forward(self, x, y):
        u, v = self.embed_x(x), self.embed_y(y)
        a = torch.softmax(self.weigh(u)[..., 0], 1)
        b = torch.softmax(self.weigh(v)[..., 0], 1)
        cost = self.squared_distances(u, v)
        kernel = torch.exp(-cost / self.eps)
        right = torch.ones_like(b)
        for _ in range(self.rounds):
            left = a / torch.einsum("bnm,bm->bn", kernel, right)
            right = b / torch.einsum("bnm,bn->bm", kernel, left)
        plan = left[:, :, None] * kernel * right[:, None, :]
        return plan, torch.einsum("bnm,bnm->b", plan, cost)
