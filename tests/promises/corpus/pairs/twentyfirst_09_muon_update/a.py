"""Muon's update of one matrix (Keller Jordan's code, without the cast to bfloat16)."""
import torch


def zeropower_via_newtonschulz5(G, steps=3):
    a, b, c = (3.4445, -4.7750, 2.0315)
    X = G
    if G.size(-2) > G.size(-1):
        X = X.mT
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        A = X @ X.mT
        B = b * A + c * A @ A
        X = a * X + B @ X
    if G.size(-2) > G.size(-1):
        X = X.mT
    return X


@torch.no_grad()
def step(weight, grad, momentum):
    beta, lr, decay = 0.95, 0.02, 0.1
    momentum.lerp_(grad, 1 - beta)
    update = grad.lerp(momentum, beta)
    update = zeropower_via_newtonschulz5(update)
    update = update * max(1, grad.size(-2) / grad.size(-1)) ** 0.5
    weight.mul_(1 - lr * decay)
    weight.add_(update, alpha=-lr)
    return update


def inputs():
    return torch.randn(6, 4), torch.randn(6, 4), torch.randn(6, 4)
