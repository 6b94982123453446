# EQUAL. metric-learning losses: torch's triplet margin and cosine embedding vs written out (with torch's epsilons)
import torch
import torch.nn.functional as F


def left(a, p, n, y):
    t = F.triplet_margin_loss(a, p, n, margin=0.8, swap=True)
    c = F.cosine_embedding_loss(a, p, y, margin=0.1)
    return t, c


def right(a, p, n, y):
    d = lambda u, v: torch.sqrt(((u - v + 1e-6) ** 2).sum(1))
    neg = torch.minimum(d(a, n), d(p, n))
    t = (d(a, p) - neg + 0.8).clamp_min(0).mean()
    cos = (a * p).sum(-1) / torch.sqrt((a.square().sum(-1) + 1e-12) * (p.square().sum(-1) + 1e-12))
    c = torch.where(y == 1, 1 - cos, torch.where(y == -1, torch.relu(cos - 0.1), torch.zeros_like(cos)))
    return t, c.mean()


torch.manual_seed(0)
inputs = (torch.randn(6, 5), torch.randn(6, 5), torch.randn(6, 5), torch.tensor([1, -1, 1, -1, -1, 1]))
