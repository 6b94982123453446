# EQUAL
import torch
from torch import nn

LAMBDA = 0.005


def off_diagonal(x):
    n, m = x.shape
    assert n == m
    return x.flatten()[:-1].view(n - 1, n + 1)[:, 1:].flatten()


class BarlowTwins(nn.Module):
    """Projector, batch norm without affine parameters (training mode), cross-correlation; as published."""
    def __init__(self):
        super().__init__()
        self.projector = nn.Sequential(nn.Linear(6, 8, bias=False), nn.ReLU(), nn.Linear(8, 5, bias=False))
        self.bn = nn.BatchNorm1d(5, affine=False, track_running_stats=False)

    def forward(self, y1, y2):
        z1, z2 = self.projector(y1), self.projector(y2)
        c = self.bn(z1).T @ self.bn(z2)
        c = c / y1.size(0)
        on_diag = torch.diagonal(c).add(-1).pow(2).sum()
        return on_diag + LAMBDA * off_diagonal(c).pow(2).sum()


class BarlowCompact(nn.Module):
    """|C - I|^2 with weights, the statistics by hand, both views through the projector in one batch."""
    def __init__(self):
        super().__init__()
        theirs = BarlowTwins().projector
        self.w1, self.w2 = theirs[0].weight, theirs[2].weight

    def forward(self, y1, y2):
        n = y1.shape[0]
        z = (torch.cat([y1, y2]) @ self.w1.T).clamp(min=0) @ self.w2.T
        z = z.view(2, n, -1)
        z = z - z.mean(dim=1, keepdim=True)
        z = z / (z.var(dim=1, keepdim=True, correction=0) + 1e-5).sqrt()
        c = torch.einsum("ni,nj->ij", z[0], z[1]) / n
        eye = torch.eye(c.size(0), dtype=c.dtype)
        weight = eye + LAMBDA * (1 - eye)
        return (weight * (c - eye) ** 2).sum()


left, right = BarlowTwins, BarlowCompact


def inputs():
    return torch.randn(7, 6), torch.randn(7, 6)
