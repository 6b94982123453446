# DIFFERENT.
"""Triplet margin loss. DIFFERENT, a little: torch's pairwise_distance adds eps = 1e-6 to the difference, the rewrite does not."""
import torch
import torch.nn.functional as F


def left(a, p, n):
    return F.triplet_margin_loss(a, p, n, margin=1.0)


def right(a, p, n):
    dp = (a - p).square().sum(-1).sqrt()
    dn = (a - n).square().sum(-1).sqrt()
    return F.relu(dp - dn + 1.0).mean()


inputs = (torch.randn(6, 5), torch.randn(6, 5), torch.randn(6, 5))
