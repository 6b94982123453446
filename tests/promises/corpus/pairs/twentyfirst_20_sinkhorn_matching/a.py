"""Entropic optimal transport between two sets of descriptors, with iterations in the log domain."""
import math
import torch

EPS, ITERS = 0.5, 3


def sinkhorn(x, y):
    b, n, _ = x.shape
    m = y.shape[1]
    cost = (x.unsqueeze(2) - y.unsqueeze(1)).pow(2).sum(-1)
    log_mu = torch.full((b, n), -math.log(n), dtype=x.dtype, device=x.device)
    log_nu = torch.full((b, m), -math.log(m), dtype=x.dtype, device=x.device)
    u, v = torch.zeros_like(log_mu), torch.zeros_like(log_nu)

    def M(u, v):
        return (-cost + u.unsqueeze(2) + v.unsqueeze(1)) / EPS

    for _ in range(ITERS):
        u = EPS * (log_mu - torch.logsumexp(M(u, v), dim=2)) + u
        v = EPS * (log_nu - torch.logsumexp(M(u, v), dim=1)) + v
    plan = torch.exp(M(u, v))
    return plan, (plan * cost).sum((1, 2))


def inputs():
    return torch.randn(2, 4, 3), torch.randn(2, 5, 3)
