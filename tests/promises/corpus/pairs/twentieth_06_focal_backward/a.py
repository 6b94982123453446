"""Sigmoid focal loss as in torchvision, gradient by autograd."""
import torch
from torch.nn import functional as F

ALPHA, GAMMA = 0.25, 2


def focal(logits, targets):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce * (1 - p_t) ** GAMMA
    alpha_t = ALPHA * targets + (1 - ALPHA) * (1 - targets)
    return (alpha_t * loss).sum() / targets.sum().clamp(min=1)


def by_autograd(logits, positive):
    targets = positive.to(logits.dtype)
    logits = logits.detach().requires_grad_()
    loss = focal(logits, targets)
    (grad,) = torch.autograd.grad(loss, logits)
    return loss.detach(), grad


def inputs():
    return torch.randn(2, 7, 3), torch.rand(2, 7, 3) < 0.4
