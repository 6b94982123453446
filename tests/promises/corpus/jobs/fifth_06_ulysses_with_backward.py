"""Ulysses with its gradients: one autograd function that exchanges heads for positions by all_to_all, and back in its backward."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "the exchange is a permutation over ranks and its backward the inverse one; weights' gradients are summed over the pieces of the sequence"

world_size = 2
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}

H, D = 4, 3


def exchange(t, scatter, gather):
    parts = [p.contiguous() for p in t.chunk(dist.get_world_size(), dim=scatter)]
    got = [torch.empty_like(p) for p in parts]
    dist.all_to_all(got, parts)
    return torch.cat(got, dim=gather)


class SeqAllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t, scatter, gather):
        ctx.dims = scatter, gather
        return exchange(t, scatter, gather)

    @staticmethod
    def backward(ctx, grad):
        scatter, gather = ctx.dims
        return exchange(grad, gather, scatter), None, None


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(9)
        self.norm = nn.LayerNorm(H * D)
        self.qkv = nn.Linear(H * D, 3 * H * D, bias=False)
        self.out = nn.Linear(H * D, H * D, bias=False)

    def to_heads(self, t):
        return t

    def to_sequence(self, t):
        return t

    def total(self, t):
        return t

    def forward(self, x):
        self.zero_grad()
        B, T, _ = x.shape
        q, k, v = (self.to_heads(t.reshape(B, T, H, D)) for t in self.qkv(self.norm(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        y = self.to_sequence(y.transpose(1, 2)).reshape(B, T, H * D)
        y = x + self.out(y)
        y.square().sum().backward()
        return y.detach(), {n: self.total(p.grad) for n, p in self.named_parameters()}


class Ulysses(Block):
    def to_heads(self, t):
        return SeqAllToAll.apply(t, 2, 1)

    def to_sequence(self, t):
        return SeqAllToAll.apply(t, 1, 2)

    def total(self, t):
        dist.all_reduce(t)
        return t


def sequential():
    return Block()


def distributed(rank, world_size):
    return Ulysses()


def inputs():
    torch.manual_seed(10)
    return (torch.randn(2, 6, H * D),)
