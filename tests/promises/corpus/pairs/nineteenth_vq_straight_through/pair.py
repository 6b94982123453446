"""Vector quantisation with the straight-through estimator, loss and gradients."""
import torch
from torch import nn
from torch.nn import functional as F


class Detach(nn.Module):
    def __init__(self, codes=6, dim=4):
        super().__init__()
        self.codebook = nn.Embedding(codes, dim)
        self.decoder = nn.Linear(dim, 3)

    def forward(self, z, target):
        z = z.detach().requires_grad_()
        e = self.codebook.weight
        distance = z.pow(2).sum(1, keepdim=True) - 2 * z @ e.T + e.pow(2).sum(1)
        index = distance.argmin(1)
        q = self.codebook(index)
        straight = z + (q - z).detach()
        loss = F.mse_loss(self.decoder(straight), target)
        loss = loss + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        dz, de = torch.autograd.grad(loss, (z, e))
        return index, loss.detach(), dz, de


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, e):
        index = ((z[:, None] - e[None]) ** 2).sum(-1).argmin(-1)
        q = e.index_select(0, index)
        ctx.save_for_backward(z, e, q, index)
        ctx.mark_non_differentiable(index)
        return q, 1.25 * (z - q).square().mean(), index

    @staticmethod
    def backward(ctx, dq, dloss, _):
        z, e, q, index = ctx.saved_tensors
        gap = 2 * (z - q) / z.numel() * dloss
        return dq + 0.25 * gap, torch.zeros_like(e).index_add_(0, index, -gap)


class Custom(nn.Module):
    def __init__(self, codes=6, dim=4):
        super().__init__()
        self.codebook = nn.Embedding(codes, dim)
        self.decoder = nn.Linear(dim, 3)

    def forward(self, z, target):
        z = z.detach().requires_grad_()
        q, vq_loss, index = Quantise.apply(z, self.codebook.weight)
        loss = (self.decoder(q) - target).square().mean() + vq_loss
        dz, de = torch.autograd.grad(loss, (z, self.codebook.weight))
        return index, loss.detach(), dz, de


left, right = Detach, Custom


def inputs():
    return torch.randn(5, 4), torch.randn(5, 3)
