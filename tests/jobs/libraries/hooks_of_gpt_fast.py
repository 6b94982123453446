"""Tensor parallelism as gpt-fast applies it: weights cut in place, and all-reduces in forward hooks."""

import torch
from torch import nn
from torch.distributed import _functional_collectives as functional
from torch.nn.functional import scaled_dot_product_attention as sdpa
from torch.nn.functional import silu

library = "torch==2.13.0"
world_size = 2
faults = ("no hook on the attention", "fused weight cut as one")


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w2, self.w3 = (nn.Linear(*size, bias=False) for size in ((16, 24), (24, 16), (16, 24)))

    def forward(self, x):
        return self.w2(silu(self.w1(x)) * self.w3(x))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wqkv, self.wo = nn.Linear(16, 32, bias=False), nn.Linear(16, 16, bias=False)
        self.heads, self.groups = 4, 2

    def forward(self, x):
        b, s, _ = x.shape
        rows = self.wqkv(x).view(b, s, self.heads + 2 * self.groups, 4).transpose(1, 2)
        q, k, v = rows.split([self.heads, self.groups, self.groups], 1)
        k, v = (t.repeat_interleave(self.heads // self.groups, 1) for t in (k, v))
        return self.wo(sdpa(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, -1))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.feed_forward = Attention(), FeedForward()
        self.before, self.between = nn.RMSNorm(16), nn.RMSNorm(16)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.feed_forward(self.between(x))


def sequential():
    return Block()


def distributed(rank, world_size, fault=None):
    block = sequential()
    attention, forward = block.attention, block.feed_forward

    def cut(linear, dim, *parts):
        pieces = linear.weight.split(parts) if parts else [linear.weight]
        kept = torch.cat([piece.chunk(world_size, dim)[rank] for piece in pieces])
        linear.weight = nn.Parameter(kept.detach().clone())

    cut(attention.wqkv, 0, *(() if fault == "fused weight cut as one" else (16, 8, 8)))
    cut(attention.wo, 1)
    attention.heads, attention.groups = attention.heads // world_size, attention.groups // world_size
    cut(forward.w1, 0)
    cut(forward.w3, 0)
    cut(forward.w2, 1)
    for part in (forward,) if fault == "no hook on the attention" else (attention, forward):
        part.register_forward_hook(lambda _, __, y: functional.all_reduce(y, "sum", list(range(world_size))))
    return block


def inputs():
    return (torch.randn(2, 5, 16),)
