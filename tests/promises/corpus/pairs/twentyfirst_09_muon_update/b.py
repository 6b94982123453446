"""Muon with fused multiply-adds (addmm), from the right for tall matrices instead of transposing twice."""
import math
import torch

NS = (3.4445, -4.7750, 2.0315)


def orthogonalise(g, steps=3):
    tall = g.shape[0] > g.shape[1]
    x = g / (g.square().sum().sqrt() + 1e-7)
    for _ in range(steps):
        if tall:
            gram = x.T @ x
            poly = torch.addmm(gram, gram, gram, beta=NS[1], alpha=NS[2])
            x = torch.addmm(x, x, poly, beta=NS[0])
        else:
            gram = x @ x.T
            poly = torch.addmm(gram, gram, gram, beta=NS[1], alpha=NS[2])
            x = torch.addmm(x, poly, x, beta=NS[0])
    return x


@torch.no_grad()
def step(weight, grad, momentum):
    beta, lr, decay = 0.95, 0.02, 0.1
    momentum.mul_(beta).add_(grad, alpha=1 - beta)
    nesterov = (1 - beta) * grad + beta * momentum
    rows, cols = grad.shape
    update = orthogonalise(nesterov) * math.sqrt(max(1.0, rows / cols))
    weight.copy_(weight - lr * (decay * weight + update))
    return update
