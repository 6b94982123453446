# DIFFERENT: right takes the biased variance (mean of squares, /n), left var() is unbiased (/(n-1)). Place: std = (z.square().mean(0) + 1e-4).sqrt()
"""VICReg: the loss of the paper's repository, and the one of our training library."""
import torch
import torch.nn.functional as F


def off_diagonal(x):
    n, m = x.shape
    return x.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


def left(x, y):
    n, d = x.shape
    repr_loss = F.mse_loss(x, y)
    x = x - x.mean(dim=0)
    y = y - y.mean(dim=0)
    std_x = torch.sqrt(x.var(dim=0) + 0.0001)
    std_y = torch.sqrt(y.var(dim=0) + 0.0001)
    std_loss = torch.mean(F.relu(1 - std_x)) / 2 + torch.mean(F.relu(1 - std_y)) / 2
    cov_x = (x.T @ x) / (n - 1)
    cov_y = (y.T @ y) / (n - 1)
    cov_loss = off_diagonal(cov_x).pow_(2).sum().div(d) + off_diagonal(cov_y).pow_(2).sum().div(d)
    return 25.0 * repr_loss + 25.0 * std_loss + 1.0 * cov_loss


def right(x, y):
    invariance = (x - y).square().mean()
    variance = covariance = 0.0
    for z in (x, y):
        z = z - z.mean(0)
        std = (z.square().mean(0) + 1e-4).sqrt()
        variance = variance + 0.5 * (1 - std).clamp(min=0).mean()
        cov = torch.einsum("ni,nj->ij", z, z) / (len(z) - 1)
        covariance = covariance + (cov.square().sum() - cov.diagonal().square().sum()) / z.shape[1]
    return 25 * invariance + 25 * variance + covariance


def inputs():
    x = torch.randn(12, 6) * 0.8
    return x, x + 0.1 * torch.randn(12, 6)
