"""Two spellings of an RMS norm followed by a linear. They are the same function.

    samesame check examples/pairs/rms_norm.py

A file of this form defines three names: `left` and `right`, each a function over tensors (or a module, or a class that
makes one), and `inputs`, a function that returns example tensors, or the tensors themselves.
"""

import torch
from torch.nn import functional as F


def left(x, weight, matrix):
    """As models write it: normalise, scale by the norm's weight, multiply."""
    normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return F.linear(normed * weight, matrix)


def right(x, weight, matrix):
    """As engines write it: the weight lives in the matrix, and the root, one number for each row, comes last."""
    return F.linear(x, matrix * weight) / torch.sqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def inputs():
    """Small sizes that differ from each other, so that no axis can be mistaken for another one."""
    return torch.randn(5, 11), torch.randn(11), torch.randn(7, 11)
