"""Muon: Nesterov momentum, three Newton-Schulz steps, scaled update. Wide matrices are the usual case; tall ones get transposed."""
import torch

A, B, C = 3.4445, -4.7750, 2.0315
MU = 0.95


def left(grad, momentum):
    buf = torch.lerp(grad, momentum, MU)
    g = torch.lerp(grad, buf, MU)
    x = g.clone()
    tall = x.size(0) > x.size(1)
    if tall:
        x = x.T
    x = x / (x.norm() + 1e-4)
    for _ in range(3):
        gram = x @ x.T
        poly = B * gram + C * gram @ gram
        x = A * x + poly @ x
    if tall:
        x = x.T
    return x * 0.2 * max(grad.shape[0], grad.shape[1]) ** 0.5, buf


def right(grad, momentum):
    buf = MU * momentum + (1 - MU) * grad
    x = (1 - MU) * grad + MU * buf
    x = x / (x.square().sum().sqrt() + 1e-4)
    for _ in range(3):
        gram = torch.einsum("ij,ik->jk", x, x)
        y = x @ gram
        x = A * x + B * y + C * (y @ gram)
    return 0.2 * max(grad.shape) ** 0.5 * x, buf


inputs = (torch.randn(7, 4), torch.randn(7, 4))
