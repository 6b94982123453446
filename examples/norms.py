"""An RMS norm, and a port of it that kept the epsilon of another model: different, by less than a tolerance sees."""

import torch
from torch.nn import functional as F


def left(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def right(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def by_torch(x):
    return F.rms_norm(x, (x.shape[-1],), eps=1e-6)


def inputs():
    return (torch.randn(4, 10),)
