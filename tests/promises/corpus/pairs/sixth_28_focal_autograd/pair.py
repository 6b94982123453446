import copy

import torch
import torch.nn.functional as F
from torch import nn

ALPHA = 0.25


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)


class AutogradFocal(Head):
    def forward(self, x, targets):
        logits = self.fc(x)
        p = torch.sigmoid(logits)
        ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
        p_t = p * targets + (1 - p) * (1 - targets)
        alpha_t = ALPHA * targets + (1 - ALPHA) * (1 - targets)
        loss = (alpha_t * ce * (1 - p_t) ** 2).mean()
        grads = torch.autograd.grad(loss, [self.fc.weight, self.fc.bias])
        return loss.detach(), *grads


class FocalFunction(torch.autograd.Function):
    """for targets that are 0 or 1"""

    @staticmethod
    def forward(ctx, logits, targets):
        p = torch.sigmoid(logits)
        ctx.save_for_backward(logits, targets, p)
        pos = ALPHA * (1 - p) ** 2 * F.softplus(-logits)
        neg = (1 - ALPHA) * p**2 * F.softplus(logits)
        return torch.where(targets > 0.5, pos, neg)

    @staticmethod
    def backward(ctx, grad_out):
        x, t, p = ctx.saved_tensors
        q = 1 - p
        # d/dx of (1-p)^2 * -log p, and of p^2 * -log(1-p)
        d_pos = ALPHA * (-2 * p * q * q * F.softplus(-x) - q * q * q)
        d_neg = (1 - ALPHA) * (2 * p * p * q * F.softplus(x) + p * p * p)
        return grad_out * torch.where(t > 0.5, d_pos, d_neg), None


class FusedFocal(Head):
    def forward(self, x, targets):
        loss = FocalFunction.apply(self.fc(x), targets).mean()
        gw, gb = torch.autograd.grad(loss, (self.fc.weight, self.fc.bias))
        return loss.detach(), gw, gb


left = AutogradFocal()
right = FusedFocal()
right.load_state_dict(copy.deepcopy(left.state_dict()))


def inputs():
    return torch.randn(5, 6), (torch.rand(5, 3) < 0.4).float()
