"""Personalised PageRank, a fixed number of power iterations."""
import torch

DAMPING = 0.85
ROUNDS = 6


def left(src, dst, preference):
    teleport = torch.softmax(preference, dim=0)
    n = teleport.shape[0]
    out_degree = torch.zeros_like(teleport).index_add(0, src, torch.ones(src.shape[0], dtype=teleport.dtype))
    dangling = out_degree == 0
    rank = teleport
    for _ in range(ROUNDS):
        share = rank / out_degree.clamp(min=1)
        arriving = torch.zeros(n, dtype=teleport.dtype).index_add(0, dst, share[src])
        lost = (rank * dangling).sum()
        rank = DAMPING * (arriving + lost * teleport) + (1 - DAMPING) * teleport
    return rank


def right(src, dst, preference):
    p = preference.softmax(0)
    n = len(p)
    counts = torch.zeros(n * n, dtype=p.dtype).scatter_add(0, src * n + dst, torch.ones_like(src, dtype=p.dtype)).view(n, n)
    degree = counts.sum(1, keepdim=True)
    transition = torch.where(degree > 0, counts / degree.clamp(min=1), p[None, :])
    rank = p
    for _ in range(ROUNDS):
        rank = DAMPING * (rank @ transition) + (1 - DAMPING) * p
    return rank


def inputs():
    src = torch.tensor([0, 0, 1, 2, 3, 3, 3, 5, 5, 1])
    dst = torch.tensor([1, 2, 2, 0, 0, 4, 5, 3, 4, 2])
    return src, dst, torch.randn(7)
