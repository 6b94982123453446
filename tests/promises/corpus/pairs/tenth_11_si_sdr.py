# EQUAL
import math
import torch


def left(estimate, target):
    """Scale-invariant signal-to-distortion ratio as defined: project, then compare energies."""
    estimate = estimate - estimate.mean(dim=-1, keepdim=True)
    target = target - target.mean(dim=-1, keepdim=True)
    alpha = (estimate * target).sum(-1, keepdim=True) / target.pow(2).sum(-1, keepdim=True)
    projection = alpha * target
    noise = estimate - projection
    ratio = projection.pow(2).sum(-1) / noise.pow(2).sum(-1)
    return -(10 * torch.log10(ratio)).mean()


def right(estimate, target):
    """By the correlation coefficient: rho^2 / (1 - rho^2)."""
    e = estimate - estimate.mean(-1, keepdim=True)
    s = target - target.mean(-1, keepdim=True)
    dot = torch.einsum("bt,bt->b", e, s)
    rho2 = dot ** 2 / (e.square().sum(-1) * s.square().sum(-1))
    db = (torch.log(rho2) - torch.log1p(-rho2)) * (10 / math.log(10))
    return db.mean().neg()


def inputs():
    clean = torch.randn(3, 16)
    return clean + 0.5 * torch.randn(3, 16), clean
