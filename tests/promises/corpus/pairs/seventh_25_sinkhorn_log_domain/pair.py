import math

import torch

torch.manual_seed(125)
EPS, STEPS = 0.5, 3


def left(x, y):
    """Entropic transport plan between two uniform clouds; Cuturi's algorithm."""
    n, m = x.shape[0], y.shape[0]
    cost = ((x[:, None, :] - y[None, :, :]) ** 2).sum(dim=-1)
    K = torch.exp(-cost / EPS)
    v = torch.ones(m, dtype=x.dtype)
    for _ in range(STEPS):
        u = (1.0 / n) / (K @ v)
        v = (1.0 / m) / (K.T @ u)
    plan = u[:, None] * K * v[None, :]
    return plan, (plan * cost).sum()


def right(x, y):
    n, m = x.shape[0], y.shape[0]
    cost = x.square().sum(1)[:, None] + y.square().sum(1) - 2 * x @ y.T
    f = x.new_zeros(n)
    g = x.new_zeros(m)
    for _ in range(STEPS):
        f = -EPS * (torch.logsumexp((g[None, :] - cost) / EPS, dim=1) + math.log(n))
        g = -EPS * (torch.logsumexp((f[:, None] - cost) / EPS, dim=0) + math.log(m))
    plan = torch.exp((f[:, None] + g[None, :] - cost) / EPS)
    return plan, torch.einsum("ij,ij->", plan, cost)


inputs = (0.6 * torch.randn(4, 2), 0.6 * torch.randn(5, 2))
