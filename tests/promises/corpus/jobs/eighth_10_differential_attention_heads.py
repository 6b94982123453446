"""Differential attention (two softmax maps, the second subtracted with a learned weight, a norm per head), heads over ranks.
Lambda's vectors and the head norm are shared by all heads and so live on every rank."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, D = 16, 4, 4  # each head: two queries and keys of D, values of 2 * D
LAMBDA_INIT = 0.8 - 0.6 * math.exp(-0.3)


class ToRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class FromRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class DifferentialAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = HEADS
        self.q = nn.Linear(DIM, HEADS * 2 * D, bias=False)
        self.k = nn.Linear(DIM, HEADS * 2 * D, bias=False)
        self.v = nn.Linear(DIM, HEADS * 2 * D, bias=False)
        self.o = nn.Linear(HEADS * 2 * D, DIM, bias=False)
        self.lambdas = nn.Parameter(torch.randn(4, D) * 0.3)
        self.head_norm = nn.Parameter(1 + 0.1 * torch.randn(2 * D))

    def shared(self, t):
        return t

    def reduce(self, t):
        return t

    def forward(self, x):
        b, t, _ = x.shape
        x = self.shared(x)
        q = self.q(x).view(b, t, self.heads, 2, D).permute(0, 2, 3, 1, 4)
        k = self.k(x).view(b, t, self.heads, 2, D).permute(0, 2, 3, 1, 4)
        v = self.v(x).view(b, t, self.heads, 2 * D).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) / math.sqrt(D)
        causal = torch.ones(t, t, dtype=torch.bool).tril()
        first, second = scores.masked_fill(~causal, float("-inf")).softmax(-1).unbind(2)

        q1, k1, q2, k2 = self.shared(self.lambdas).unbind(0)
        weight = torch.exp((q1 * k1).sum()) - torch.exp((q2 * k2).sum()) + LAMBDA_INIT
        out = (first - weight * second) @ v
        out = out * torch.rsqrt(out.square().mean(-1, keepdim=True) + 1e-5) * self.shared(self.head_norm)
        out = out * (1 - LAMBDA_INIT)
        return self.reduce(self.o(out.transpose(1, 2).reshape(b, t, -1)))


class HeadParallel(DifferentialAttention):
    def __init__(self, rank, world_size):
        super().__init__()
        self.heads = HEADS // world_size
        for name in ("q", "k", "v"):
            linear = getattr(self, name)
            linear.weight = nn.Parameter(linear.weight.detach().chunk(world_size, 0)[rank].clone())
        self.o.weight = nn.Parameter(self.o.weight.detach().chunk(world_size, 1)[rank].clone())

    def shared(self, t):
        return ToRanks.apply(t)

    def reduce(self, t):
        return FromRanks.apply(t)


def sequential():
    return DifferentialAttention()


def distributed(rank, world_size):
    return HeadParallel(rank, world_size)


def inputs():
    return torch.randn(2, 5, DIM)


world_size = 2
backward = True

TRUTH = "refines"
