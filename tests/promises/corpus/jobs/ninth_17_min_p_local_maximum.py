"""min-p filtering of next-token probabilities, the vocabulary cut over ranks."""
import torch
import torch.distributed as dist
from torch import nn

MIN_P = 0.3


class Sampler(nn.Module):
    def __init__(self, dim=5, words=16):
        super().__init__()
        self.head = nn.Linear(dim, words, bias=False)

    def forward(self, hidden):
        p = self.head(hidden).softmax(dim=-1)
        kept = torch.where(p >= MIN_P * p.amax(dim=-1, keepdim=True), p, torch.zeros_like(p))
        return kept / kept.sum(dim=-1, keepdim=True)


class ShardedSampler(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.head = nn.Parameter(full.head.weight.detach().chunk(world_size)[rank].clone())

    def forward(self, hidden):
        logits = hidden @ self.head.t()
        top = logits.amax(dim=-1, keepdim=True)
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        e = torch.exp(logits - top)
        total = e.sum(dim=-1, keepdim=True)
        dist.all_reduce(total)
        p = e / total
        kept = torch.where(p >= MIN_P * p.amax(dim=-1, keepdim=True), p, torch.zeros_like(p))
        mass = kept.sum(dim=-1, keepdim=True)
        dist.all_reduce(mass)
        return kept / mass


def sequential():
    return Sampler()


def distributed(rank, world_size):
    return ShardedSampler(Sampler(), rank, world_size)


def inputs():
    return torch.randn(4, 5) * 2


world_size = 4
expected = {"0": "shard(-1)"}


TRUTH = "does not refine"
