"""Retention (linear attention with decay): one matrix of decays in one process, chunk by rank with gathered states in the other."""

import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = "What earlier chunks contribute is their decayed sum of keys times values, which every rank makes of the gathered states before it."

world_size = 4
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}

D, HEADS, HEAD = 8, 2, 4
DECAYS = (0.9, 0.75)


class Retention(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(31)
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))

    def heads(self, x):
        return (p(x).unflatten(-1, (HEADS, HEAD)).transpose(1, 2) for p in (self.q, self.k, self.v))

    def inner(self, q, k, v):
        T = q.shape[2]
        step = torch.arange(T)[:, None] - torch.arange(T)[None, :]
        decay = torch.tensor(DECAYS)[:, None, None] ** step.clamp(min=0)
        return ((q @ k.transpose(-1, -2)) * (decay * (step >= 0))) @ v

    def out(self, y):
        return self.o(y.transpose(1, 2).flatten(2))

    def forward(self, x):
        return self.out(self.inner(*self.heads(x)))


class ChunkedRetention(Retention):
    def forward(self, x):
        rank, size = dist.get_rank(), dist.get_world_size()
        q, k, v = self.heads(x)
        T = q.shape[2]
        decay = torch.tensor(DECAYS)[:, None, None]
        place = torch.arange(T)[None, :, None]
        state = (k * decay ** (T - 1 - place)).transpose(-1, -2) @ v       # as seen by the chunk's last step
        states = [torch.empty_like(state) for _ in range(size)]
        dist.all_gather(states, state)
        before = torch.zeros_like(state)
        for earlier in states[:rank]:
            before = before * decay**T + earlier
        return self.out(self.inner(q, k, v) + (q * decay ** (place + 1)) @ before)


def sequential():
    return Retention()


def distributed(rank, world_size):
    return ChunkedRetention()


def inputs():
    torch.manual_seed(32)
    return (torch.randn(2, 12, D),)
