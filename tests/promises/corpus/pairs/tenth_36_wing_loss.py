# DIFFERENT
import math
import torch


def left(pred, target, width=10.0, curvature=2.0):
    """Wing loss for facial landmarks; C joins the two pieces at |x| = width."""
    diff = (target - pred).abs()
    C = width - width * math.log(1 + width / curvature)
    loss = torch.where(diff < width, width * torch.log(1 + diff / curvature), diff - C)
    return loss.sum(dim=(1, 2)).mean()


def right(pred, target, omega=10.0, epsilon=2.0):
    delta = torch.abs(pred - target)
    c = omega * (1.0 - math.log(1.0 + omega / epsilon))
    small = omega * torch.log1p(delta / epsilon)
    large = delta + c
    mask = (delta < omega).to(delta.dtype)
    return (mask * small + (1 - mask) * large).flatten(1).sum(1).mean(0)


def inputs():
    target = 40 * torch.rand(4, 5, 2)
    return target + 12 * torch.randn(4, 5, 2), target
