"""One decoding step against a cache that is sharded over the sequence, with lengths; the last rank has the new token too (flash-decoding over ranks)."""
import math

import torch
import torch.distributed as dist
from torch import nn

DIM, HEADS, HEAD_DIM, CACHE = 8, 2, 4, 12


class DecodeAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(DIM, HEADS * HEAD_DIM, bias=False)
        self.wk = nn.Linear(DIM, HEADS * HEAD_DIM, bias=False)
        self.wv = nn.Linear(DIM, HEADS * HEAD_DIM, bias=False)
        self.wo = nn.Linear(HEADS * HEAD_DIM, DIM, bias=False)

    def project(self, x):
        return [w(x).view(-1, HEADS, 1, HEAD_DIM) for w in (self.wq, self.wk, self.wv)]

    def forward(self, x, k_cache, v_cache, lengths):
        q, k_new, v_new = self.project(x)
        k, v = torch.cat([k_cache, k_new], dim=2), torch.cat([v_cache, v_new], dim=2)
        filled = torch.arange(CACHE) < lengths.unsqueeze(1)
        filled = torch.cat([filled, torch.ones(x.shape[0], 1, dtype=torch.bool)], dim=1)
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(HEAD_DIM)
        scores = scores.masked_fill(~filled[:, None, None], float("-inf"))
        out = scores.softmax(dim=-1) @ v
        return self.wo(out.flatten(1)), k_new, v_new


class ShardedDecode(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.attention, self.rank, self.world_size = full, rank, world_size

    def forward(self, x, k_cache, v_cache, lengths):
        q, k_new, v_new = self.attention.project(x)
        held = k_cache.shape[2]
        positions = torch.arange(held) + self.rank * held
        filled = positions < lengths.unsqueeze(1)
        k, v = k_cache, v_cache
        if self.rank == self.world_size - 1:
            k, v = torch.cat([k, k_new], dim=2), torch.cat([v, v_new], dim=2)
            filled = torch.cat([filled, filled.new_ones(x.shape[0], 1)], dim=1)
        scores = (q @ k.transpose(-1, -2)) * HEAD_DIM**-0.5
        scores = scores.masked_fill(~filled[:, None, None], float("-inf"))

        peak = scores.amax(dim=-1, keepdim=True)
        dist.all_reduce(peak, op=dist.ReduceOp.MAX)
        weights = torch.exp(scores - peak)
        packed = torch.cat([weights @ v, weights.sum(dim=-1, keepdim=True)], dim=-1)
        dist.all_reduce(packed)
        out = packed[..., :HEAD_DIM] / packed[..., HEAD_DIM:]
        return self.attention.wo(out.flatten(1)), k_new, v_new


def sequential():
    return DecodeAttention()


def distributed(rank, world_size):
    return ShardedDecode(DecodeAttention(), rank, world_size)


def inputs():
    shape = (3, HEADS, CACHE, HEAD_DIM)
    return {
        "x": torch.randn(3, DIM),
        "k_cache": torch.randn(shape),
        "v_cache": torch.randn(shape),
        "lengths": torch.tensor([12, 5, 8]),
    }


world_size = 4
relations = {"k_cache": "shard(2)", "v_cache": "shard(2)"}


TRUTH = "refines"
