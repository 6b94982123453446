"""Decoding against a cache cut by positions: partial softmax on each rank, gathered with its log-sum-exp and merged; one rank has padding."""

import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = "a rank's partial output weighs as the exponential of its log-sum-exp; positions beyond the length are masked by the smallest number"

world_size = 2
relations = {"k": "shard(1)", "v": "shard(1)"}

D = 4


def attend(q, k, v, seen):
    s = torch.einsum("bd,btd->bt", q, k) / D**0.5
    s = s.masked_fill(~seen, torch.finfo(s.dtype).min)
    return s


class Decode(nn.Module):
    def forward(self, q, k, v, length):
        seen = torch.arange(k.shape[1])[None] < length[:, None]
        return torch.einsum("bt,btd->bd", attend(q, k, v, seen).softmax(-1), v)


class DecodeCut(nn.Module):
    def forward(self, q, k, v, length):
        rank, size = dist.get_rank(), dist.get_world_size()
        at = rank * k.shape[1] + torch.arange(k.shape[1])
        s = attend(q, k, v, at[None] < length[:, None])
        m = s.amax(-1, keepdim=True)
        p = torch.exp(s - m)
        o = torch.einsum("bt,btd->bd", p, v)
        top = m.clone()
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        scale = torch.exp(m - top)
        packed = torch.cat([o * scale, p.sum(-1, keepdim=True) * scale], -1)
        dist.all_reduce(packed)
        return packed[:, :-1] / packed[:, -1:]


def sequential():
    return Decode()


def distributed(rank, world_size):
    return DecodeCut()


def inputs():
    torch.manual_seed(29)
    return {"q": torch.randn(3, D), "k": torch.randn(3, 6, D), "v": torch.randn(3, 6, D), "length": torch.tensor([2, 5, 6])}
