"""LSQ (learned step size quantisation) of a linear layer, forward and gradients: a custom autograd.Function, and the detach trick."""
import math

import torch
from torch import nn

QN, QP = -8, 7


class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, s, g):
        ctx.save_for_backward(w, s)
        ctx.g = g
        return torch.round(w / s).clamp(QN, QP) * s

    @staticmethod
    def backward(ctx, grad):
        w, s = ctx.saved_tensors
        q = w / s
        low, high = (q < QN).to(grad.dtype), (q > QP).to(grad.dtype)
        middle = 1.0 - low - high
        ds = ((low * QN + high * QP + middle * (q.round() - q)) * grad * ctx.g).sum().reshape(s.shape)
        return middle * grad, ds, None


class left(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.step = nn.Parameter(torch.randn(4, 5)), nn.Parameter(torch.tensor([0.17]))

    def quantised(self):
        return Quantise.apply(self.weight, self.step, 1.0 / math.sqrt(self.weight.numel() * QP))

    def forward(self, x, y):
        out = x @ self.quantised().T
        loss = (out - y).square().mean()
        gw, gs = torch.autograd.grad(loss, (self.weight, self.step))
        return out.detach(), gw, gs


def grad_scale(s, g):
    return (s - s * g).detach() + s * g


def round_pass(x):
    return (x.round() - x).detach() + x


class right(left):
    def quantised(self):
        s = grad_scale(self.step, (self.weight.numel() * QP) ** -0.5)
        return round_pass((self.weight / s).clamp(QN, QP)) * s


def inputs():
    return torch.randn(3, 5), torch.randn(3, 4)
