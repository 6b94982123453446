# Barlow Twins: the cross-correlation matrix is over the global batch, so the batch statistics
# and the correlation both have to be summed over the ranks before the loss is taken.
import torch
import torch.distributed as dist
from torch import nn


class SumForLocalUse(torch.autograd.Function):
    """A statistic that every rank applies to its own samples: gradients add up as well."""

    @staticmethod
    def forward(ctx, t):
        t = t.clone()
        dist.all_reduce(t)
        return t

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class SumForSharedLoss(torch.autograd.Function):
    """What only feeds the loss, which every rank holds whole: the gradient is there already."""

    @staticmethod
    def forward(ctx, t):
        t = t.clone()
        dist.all_reduce(t)
        return t

    @staticmethod
    def backward(ctx, grad):
        return grad


class BarlowTwins(nn.Module):
    def __init__(self, dim=6, width=8, lambd=5e-3, eps=1e-5):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(dim, width), nn.Tanh(), nn.Linear(width, 5, bias=False))
        self.lambd, self.eps = lambd, eps

    def statistic(self, t):
        return t

    def total(self, t):
        return t

    def standardise(self, z, n):
        mean = self.statistic(z.sum(0)) / n
        centred = z - mean
        var = self.statistic((centred * centred).sum(0)) / n
        return centred * torch.rsqrt(var + self.eps)

    def forward(self, view_a, view_b, n=None):
        n = n or view_a.shape[0]
        za = self.standardise(self.backbone(view_a), n)
        zb = self.standardise(self.backbone(view_b), n)
        c = self.total(za.T @ zb) / n
        on_diag = (torch.diagonal(c) - 1).square().sum()
        off_diag = c.square().sum() - torch.diagonal(c).square().sum()
        return on_diag + self.lambd * off_diag


class DistributedBarlowTwins(BarlowTwins):
    def statistic(self, t):
        return SumForLocalUse.apply(t)

    def total(self, t):
        return SumForSharedLoss.apply(t)


class Step(nn.Module):
    def __init__(self, model, world_size=1):
        super().__init__()
        self.model, self.world_size = model, world_size

    def forward(self, view_a, view_b):
        loss = self.model(view_a, view_b, view_a.shape[0] * self.world_size)
        loss.backward()
        if self.world_size > 1:
            for p in self.model.parameters():
                dist.all_reduce(p.grad)
        return loss.detach()


def sequential():
    return Step(BarlowTwins())


def distributed(rank, world_size):
    return Step(DistributedBarlowTwins(), world_size)


def inputs():
    a = torch.randn(8, 6)
    return a, a + 0.3 * torch.randn(8, 6)


world_size = 2
relations = {"view_a": "shard(0)", "view_b": "shard(0)"}
TRUTH = "refines"
