"""RMS norm with a fused backward pass that saves only the reciprocal root."""
import torch
from torch import nn


class RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        rstd = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
        ctx.save_for_backward(x, weight, rstd)
        return x * rstd * weight

    @staticmethod
    def backward(ctx, dy):
        x, weight, rstd = ctx.saved_tensors
        normed = x * rstd
        dweight = (dy * normed).flatten(0, -2).sum(0)
        dx = rstd * (dy * weight - normed * (dy * normed).mean(-1, keepdim=True))
        return dx, dweight, None


class Fused(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.proj = nn.Linear(dim, 4)

    def forward(self, x):
        x = x.detach().requires_grad_()
        loss = torch.tanh(self.proj(RMSNorm.apply(x, self.weight, 1e-6))).square().mean()
        return loss.detach(), *torch.autograd.grad(loss, (x, self.weight, self.proj.weight))


class Autograd(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.proj = nn.Linear(dim, 4)

    def forward(self, x):
        x = x.detach().requires_grad_()
        y = nn.functional.rms_norm(x, x.shape[-1:], self.weight, eps=1e-6)
        loss = self.proj(y).tanh().pow(2).mean()
        return loss.detach(), *torch.autograd.grad(loss, (x, self.weight, self.proj.weight))


def inputs():
    return (torch.randn(2, 3, 6),)
