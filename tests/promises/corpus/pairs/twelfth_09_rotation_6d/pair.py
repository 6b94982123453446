"""Continuous 6D representation of rotations (Zhou et al.) to a matrix."""
import torch
from torch.nn import functional as F


def left(d6):
    """PyTorch3D: rows of the matrix."""
    a1, a2 = d6[..., :3], d6[..., 3:]
    b1 = F.normalize(a1, dim=-1)
    b2 = a2 - (b1 * a2).sum(-1, keepdim=True) * b1
    b2 = F.normalize(b2, dim=-1)
    b3 = torch.cross(b1, b2, dim=-1)
    return torch.stack((b1, b2, b3), dim=-2)


def unit(v):
    length = v.square().sum(-1, keepdim=True).sqrt()
    return v / length.clamp(min=1e-12)


def right(d6):
    pair = d6.unflatten(-1, (2, 3))
    x = unit(pair[..., 0, :])
    along = torch.einsum("...i,...i->...", x, pair[..., 1, :])
    y = unit(pair[..., 1, :] - along[..., None] * x)
    x0, x1, x2 = x.unbind(-1)
    y0, y1, y2 = y.unbind(-1)
    z = torch.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], dim=-1)
    return torch.cat([x[..., None, :], y[..., None, :], z[..., None, :]], dim=-2)


inputs = (torch.randn(4, 6),)
