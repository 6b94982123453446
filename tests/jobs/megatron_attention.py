"""Attention with its heads dealt out to ranks, by functional collectives: grouped queries, rotary positions, a causal
mask. With more ranks than key and value heads, neighbouring ranks share one; else a rank repeats its own."""

import torch
import torch.distributed as dist
from megatron_parts import Copy, generic, shard
from torch import nn
from torch.distributed import _functional_collectives as collectives

world_size = 4
backward = True
HEADS, SHARED, SIZE, WIDTH = 4, 2, 4, 8


def rotated(x, offset=0):
    """Rotary positions; x: [batch, heads, tokens, size]."""
    angles = torch.outer(torch.arange(x.shape[2]) + offset, 10.0 ** -torch.arange(0, SIZE // 2))
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    left, right = x.chunk(2, -1)
    return x * cos + torch.cat((-right, left), -1) * sin


def attend(q, k, v):
    scores = rotated(q) @ rotated(k).transpose(-1, -2) / SIZE**0.5
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, float("-inf")).softmax(-1) @ v


def heads(x):
    return x.unflatten(-1, (-1, SIZE)).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.o = nn.Linear(WIDTH, HEADS * SIZE), nn.Linear(HEADS * SIZE, WIDTH)
        self.k, self.v = nn.Linear(WIDTH, SHARED * SIZE), nn.Linear(WIDTH, SHARED * SIZE)

    def forward(self, x):
        q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        k, v = (y.repeat_interleave(HEADS // SHARED, 1) for y in (k, v))
        return self.o(attend(q, k, v).transpose(1, 2).flatten(2))


class Parallel(nn.Module):
    def __init__(self, whole, rank, world_size, fault=None):
        super().__init__()
        self.fault = fault
        own = rank % SHARED if fault == "wrong_shared_head" else rank * SHARED // world_size
        self.q, self.q_bias = (shard(w, 0, rank, world_size) for w in (whole.q.weight, whole.q.bias))
        self.k, self.k_bias = (shard(w, 0, own, SHARED) for w in (whole.k.weight, whole.k.bias))
        self.v, self.v_bias = (shard(w, 0, own, SHARED) for w in (whole.v.weight, whole.v.bias))
        self.o, self.o_bias = shard(whole.o.weight, 1, rank, world_size), nn.Parameter(whole.o.bias.detach().clone())
        many = world_size // SHARED                                        # ranks that share a head add its gradients
        groups = [dist.new_group(list(range(first, first + many))) for first in range(0, world_size, many)]
        if many > 1 and fault != "shared_heads_not_added":
            for weight in (self.k, self.k_bias, self.v, self.v_bias):
                weight.register_hook(lambda grad: collectives.all_reduce(grad, "sum", groups[rank // many]))

    def forward(self, x):
        x = Copy.apply(x)
        q, k, v = (
            heads(nn.functional.linear(x, w, b))
            for w, b in ((self.q, self.q_bias), (self.k, self.k_bias), (self.v, self.v_bias))
        )
        y = attend(q, k, v).transpose(1, 2).flatten(2) @ self.o.t()
        if self.fault != "no_forward_all_reduce":
            y = Summed.apply(y)
        return y + self.o_bias


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return collectives.all_reduce(x, "sum", dist.group.WORLD)

    @staticmethod
    def backward(ctx, grad):
        return grad


def sequential():
    return generic(Attention())


def distributed(rank, world_size, fault=None):
    return Parallel(sequential(), rank, world_size, fault)


def inputs():
    return (torch.randn(2, 5, WIDTH),)


faults = ("wrong_shared_head", "shared_heads_not_added", "no_forward_all_reduce")
