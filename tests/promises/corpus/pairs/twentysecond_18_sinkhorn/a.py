"""Entropic optimal transport between two sets of learnt features, in the log domain (as in GeomLoss, POT's sinkhorn_log)."""

import torch
from torch import nn


class SinkhornDistance(nn.Module):
    def __init__(self, size=6, dim=4, eps=0.5, rounds=3):
        super().__init__()
        self.embed_x = nn.Linear(size, dim)
        self.embed_y = nn.Linear(size, dim)
        self.weigh = nn.Linear(dim, 1)
        self.eps, self.rounds = eps, rounds

    def forward(self, x, y):
        """x [B, N, size], y [B, M, size] → the plan [B, N, M] and its cost [B]."""
        u, v = self.embed_x(x), self.embed_y(y)
        log_a = self.weigh(u).squeeze(-1).log_softmax(-1)
        log_b = self.weigh(v).squeeze(-1).log_softmax(-1)
        cost = (u.unsqueeze(2) - v.unsqueeze(1)).pow(2).sum(-1)
        f, g = torch.zeros_like(log_a), torch.zeros_like(log_b)
        for _ in range(self.rounds):
            f = self.eps * (log_a - torch.logsumexp((g.unsqueeze(1) - cost) / self.eps, dim=2))
            g = self.eps * (log_b - torch.logsumexp((f.unsqueeze(2) - cost) / self.eps, dim=1))
        plan = torch.exp((f.unsqueeze(2) + g.unsqueeze(1) - cost) / self.eps)
        return plan, (plan * cost).sum((1, 2))


def inputs():
    return 0.7 * torch.randn(2, 5, 6), 0.7 * torch.randn(2, 4, 6)
