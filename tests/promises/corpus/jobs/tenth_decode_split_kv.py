"""One decoded token against a cache that is cut along the sequence: the last rank stores the new key and value, and the ranks merge their softmax by a global maximum and two sums."""
import math

import torch
import torch.distributed as dist
from torch import nn

DIM, HEADS, KV, HD = 12, 4, 2, 3


class Decode(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(DIM, HEADS * HD)
        self.kv = nn.Linear(DIM, 2 * KV * HD)
        self.o = nn.Linear(HEADS * HD, DIM, bias=False)

    def project(self, x):
        b = x.shape[0]
        k, v = self.kv(x).view(b, 2, KV, HD).unbind(1)
        return self.q(x).view(b, KV, HEADS // KV, HD), k, v

    def scores(self, q, k_cache, at, last, start):
        s = torch.einsum("bgqd,bgtd->bgqt", q, k_cache) / math.sqrt(HD)
        seen = (at >= start[:, None]) | (at == last)  # left padding; a token always sees itself
        return s.masked_fill(~seen[:, None, None, :], float("-inf"))

    def forward(self, x, k_cache, v_cache, start):
        q, k, v = self.project(x)
        last = k_cache.shape[2] - 1
        k_cache[:, :, last] = k
        v_cache[:, :, last] = v
        s = self.scores(q, k_cache, torch.arange(last + 1), last, start)
        y = torch.einsum("bgqt,bgtd->bgqd", s.softmax(-1), v_cache)
        return self.o(y.flatten(1))


class SplitDecode(nn.Module):
    def __init__(self, model, rank, world_size):
        super().__init__()
        self.model, self.rank, self.world_size = model, rank, world_size

    def forward(self, x, k_cache, v_cache, start):
        m = self.model
        q, k, v = m.project(x)
        local = k_cache.shape[2]
        if self.rank == self.world_size - 1:
            k_cache[:, :, -1] = k
            v_cache[:, :, -1] = v
        at = torch.arange(self.rank * local, (self.rank + 1) * local)
        s = m.scores(q, k_cache, at, self.world_size * local - 1, start)
        top = s.amax(-1, keepdim=True)
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        weight = (s - top).exp()
        above = torch.einsum("bgqt,bgtd->bgqd", weight, v_cache)
        merged = torch.cat([above, weight.sum(-1, keepdim=True)], -1)
        dist.all_reduce(merged)
        y = merged[..., :-1] / merged[..., -1:]
        return m.o(y.flatten(1))


def sequential():
    return Decode()


def distributed(rank, world_size):
    return SplitDecode(Decode(), rank, world_size)


def inputs():
    k, v = torch.randn(2, KV, 12, HD), torch.randn(2, KV, 12, HD)
    return torch.randn(2, DIM), k, v, torch.tensor([0, 4])


world_size = 4
relations = {"k_cache": "shard(2)", "v_cache": "shard(2)"}
expected = {"k_cache after the call": "shard(2)", "v_cache after the call": "shard(2)"}


TRUTH = "refines"
