"""A step of tensor parallel training with clipping by the norm of all gradients."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "differs"
WHY = "Squares are summed over ranks for every weight, so those of the norm and the last bias, which all ranks hold, count twice."

world_size = 2

D, H, LR, MAX_NORM = 6, 8, 0.3, 0.2


class CopyTo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class ReduceFrom(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(40)
        self.scale, self.shift = nn.Parameter(1 + 0.1 * torch.randn(D)), nn.Parameter(0.1 * torch.randn(D))
        self.up, self.up_bias = nn.Parameter(torch.randn(H, D)), nn.Parameter(torch.randn(H))
        self.down, self.down_bias = nn.Parameter(torch.randn(D, H)), nn.Parameter(torch.randn(D))

    def enter(self, x):
        return x

    def leave(self, x):
        return x

    def total(self, squares):
        return squares

    def forward(self, x, target):
        h = self.enter(F.layer_norm(x, (D,), self.scale, self.shift))
        y = self.leave(F.linear(F.gelu(F.linear(h, self.up, self.up_bias)), self.down)) + self.down_bias
        loss = F.mse_loss(x + y, target)
        weights = list(self.parameters())
        grads = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            norm = self.total(sum(g.square().sum() for g in grads)).sqrt()
            factor = (MAX_NORM / (norm + 1e-6)).clamp(max=1.0)
            for weight, grad in zip(weights, grads):
                weight -= LR * factor * grad
        return loss.detach()


class ParallelMLP(MLP):
    def __init__(self, rank, size):
        super().__init__()
        with torch.no_grad():
            for name, dim in (("up", 0), ("up_bias", 0), ("down", 1)):
                setattr(self, name, nn.Parameter(getattr(self, name).chunk(size, dim)[rank].clone()))

    def enter(self, x):
        return CopyTo.apply(x)

    def leave(self, x):
        return ReduceFrom.apply(x)

    def total(self, squares):
        dist.all_reduce(squares)
        return squares


def sequential():
    return MLP()


def distributed(rank, world_size):
    return ParallelMLP(rank, world_size)


def inputs():
    torch.manual_seed(41)
    return torch.randn(4, D), torch.randn(4, D)
