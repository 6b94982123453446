# EQUAL
import torch

REG = 0.5
ROUNDS = 3


def left(x, y, a_logits, b_logits):
    """potentials, everything in logarithms"""
    log_a, log_b = a_logits.log_softmax(0), b_logits.log_softmax(0)
    cost = torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    g = torch.zeros_like(log_b)
    for _ in range(ROUNDS):
        f = REG * (log_a - torch.logsumexp((g[None, :] - cost) / REG, dim=1))
        g = REG * (log_b - torch.logsumexp((f[:, None] - cost) / REG, dim=0))
    plan = torch.exp((f[:, None] + g[None, :] - cost) / REG)
    return (plan * cost).sum(), plan


def right(x, y, a_logits, b_logits):
    """scalings of the kernel"""
    a, b = torch.softmax(a_logits, 0), torch.softmax(b_logits, 0)
    cost = x.square().sum(1)[:, None] + y.square().sum(1)[None] - 2 * x @ y.T
    kernel = torch.exp(-cost / REG)
    v = torch.ones_like(b)
    for _ in range(ROUNDS):
        u = a / (kernel @ v)
        v = b / (kernel.T @ u)
    plan = u[:, None] * kernel * v
    return torch.einsum("ij,ij->", plan, cost), plan


torch.manual_seed(1967)
inputs = (torch.randn(4, 2), torch.randn(5, 2), torch.randn(4), torch.randn(5))
