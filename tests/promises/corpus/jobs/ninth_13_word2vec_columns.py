"""word2vec with negative samples: both tables are cut along the embedding, partial dot products are added up."""
import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F

RATE = 0.5


class SkipGram(nn.Module):
    def __init__(self, words=11, dim=6):
        super().__init__()
        self.inner = nn.Parameter(torch.randn(words, dim))
        self.outer = nn.Parameter(torch.randn(words, dim))

    def scores(self, a, b):
        return (a * b).sum(dim=-1)

    def forward(self, centre, context, negatives):
        v = self.inner[centre]
        positive = self.scores(v, self.outer[context])
        negative = self.scores(v[:, None, :], self.outer[negatives])
        loss = -(F.logsigmoid(positive) + F.logsigmoid(-negative).sum(dim=1)).mean()
        grads = torch.autograd.grad(loss, [self.inner, self.outer])
        with torch.no_grad():
            self.inner.sub_(grads[0], alpha=RATE)
            self.outer.sub_(grads[1], alpha=RATE)
        return loss.detach()


class Total(torch.autograd.Function):
    """A sum over ranks whose result, and all that follows, every rank has alike."""

    @staticmethod
    def forward(ctx, part):
        whole = part.clone()
        dist.all_reduce(whole)
        return whole

    @staticmethod
    def backward(ctx, g):
        return g


class ColumnsOfSkipGram(SkipGram):
    def __init__(self, rank, world_size):
        super().__init__()
        self.inner = nn.Parameter(self.inner.detach().chunk(world_size, dim=1)[rank].clone())
        self.outer = nn.Parameter(self.outer.detach().chunk(world_size, dim=1)[rank].clone())

    def scores(self, a, b):
        return Total.apply(super().scores(a, b))


def sequential():
    return SkipGram()


def distributed(rank, world_size):
    return ColumnsOfSkipGram(rank, world_size)


def inputs():
    return torch.randint(0, 11, (7,)), torch.randint(0, 11, (7,)), torch.randint(0, 11, (7, 3))


world_size = 2


TRUTH = "refines"
