"""Causal attention with a learned sink logit per head (as gpt-oss has it), heads cut over ranks."""
import math

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F


def attend(q, k, v, sinks):
    """q, k, v: [batch, heads, time, size]; sinks: [heads]."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    time = q.shape[2]
    future = torch.ones(time, time, dtype=torch.bool).triu(1)
    scores = scores.masked_fill(future, float("-inf"))
    sink = sinks.view(1, -1, 1, 1).expand(q.shape[0], -1, time, 1)
    weights = torch.cat([scores, sink], dim=-1).softmax(dim=-1)[..., :-1]
    return weights @ v


class SinkAttention(nn.Module):
    def __init__(self, dim=8, heads=4):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.o = nn.Linear(dim, dim)
        self.sinks = nn.Parameter(torch.randn(heads))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.o(attend(q, k, v, self.sinks).transpose(1, 2).reshape(b, t, d))


class HeadsOfSinkAttention(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.heads = full.heads // world_size
        for name in ("q", "k", "v"):
            layer = getattr(full, name)
            mine = nn.Linear(layer.in_features, layer.out_features // world_size)
            mine.weight.data = layer.weight.data.chunk(world_size)[rank].clone()
            mine.bias.data = layer.bias.data.chunk(world_size)[rank].clone()
            setattr(self, name, mine)
        self.o_weight = nn.Parameter(full.o.weight.data.chunk(world_size, dim=1)[rank].clone())
        self.o_bias = nn.Parameter(full.o.bias.data.clone())
        self.sinks = nn.Parameter(full.sinks.data.chunk(world_size)[rank].clone())

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        mine = attend(q, k, v, self.sinks).transpose(1, 2).reshape(b, t, -1)
        out = F.linear(mine, self.o_weight)
        dist.all_reduce(out)
        return out + self.o_bias


def sequential():
    return SinkAttention()


def distributed(rank, world_size):
    return HeadsOfSinkAttention(SinkAttention(), rank, world_size)


def inputs():
    return torch.randn(2, 5, 8)


world_size = 2


TRUTH = "refines"
