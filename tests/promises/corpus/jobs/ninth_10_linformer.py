"""Linformer: keys and values are projected along the sequence, which is cut over ranks; with gradients."""
import math

import torch
import torch.distributed.nn.functional as dnn
from torch import nn


class Linformer(nn.Module):
    def __init__(self, dim=8, heads=2, length=12, landmarks=3):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim)
        self.project_k = nn.Parameter(torch.randn(landmarks, length) / 3)
        self.project_v = nn.Parameter(torch.randn(landmarks, length) / 3)

    def along_sequence(self, projection, x):
        return torch.einsum("mt,btd->bmd", projection, x)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        k = self.along_sequence(self.project_k, k)
        v = self.along_sequence(self.project_v, v)
        q, k, v = (z.unflatten(-1, (self.heads, -1)).transpose(1, 2) for z in (q, k, v))
        weights = (q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class SequenceParallelLinformer(Linformer):
    def __init__(self, rank, world_size):
        super().__init__()
        for name in ("project_k", "project_v"):
            whole = getattr(self, name).detach()
            setattr(self, name, nn.Parameter(whole.chunk(world_size, dim=1)[rank].clone()))

    def along_sequence(self, projection, x):
        return dnn.all_reduce(super().along_sequence(projection, x))


def sequential():
    return Linformer()


def distributed(rank, world_size):
    return SequenceParallelLinformer(rank, world_size)


def inputs():
    return torch.randn(2, 12, 8)


world_size = 4
backward = True
relations = {"x": "shard(1)", "project_k": "shard(1)", "project_v": "shard(1)"}
expected = {
    "0": "shard(1)",
    "grad.qkv.weight": "partial",
    "grad.out.weight": "partial",
    "grad.out.bias": "partial",
}


TRUTH = "refines"
