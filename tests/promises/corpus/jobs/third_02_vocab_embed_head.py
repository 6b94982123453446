"""Tied embedding split over the vocabulary, as in Megatron."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed._functional_collectives import all_gather_tensor, all_reduce

TRUTH = "refines"
WHY = 'vocab-parallel embedding (masked lookup, all-reduce) and tied LM head whose logits are all-gathered'
world_size = 4

VOCAB, D = 32, 12


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, D)
        self.ln = nn.LayerNorm(D)
        self.mix = nn.Linear(D, D)

    def forward(self, ids):
        h = self.wte(ids)
        h = h + torch.tanh(self.mix(self.ln(h)))
        return h @ self.wte.weight.t()


class VocabParallelLM(nn.Module):
    def __init__(self, lm, rank, size):
        super().__init__()
        per = VOCAB // size
        self.lo, self.hi = rank * per, (rank + 1) * per
        self.wte = nn.Parameter(lm.wte.weight.data[self.lo:self.hi].clone())
        self.ln = lm.ln
        self.mix = lm.mix
        self.group = dist.group.WORLD

    def embed(self, ids):
        outside = (ids < self.lo) | (ids >= self.hi)
        local = (ids - self.lo).masked_fill(outside, 0)
        h = self.wte[local]
        h = h.masked_fill(outside.unsqueeze(-1), 0.0)
        return all_reduce(h, "sum", self.group)

    def forward(self, ids):
        h = self.embed(ids)
        h = h + torch.tanh(self.mix(self.ln(h)))
        return all_gather_tensor(h @ self.wte.t(), gather_dim=2, group=self.group)


def sequential():
    torch.manual_seed(3)
    return TinyLM()


def distributed(rank, world_size):
    return VocabParallelLM(sequential(), rank, world_size)


def inputs():
    g = torch.Generator().manual_seed(0)
    return (torch.randint(0, VOCAB, (2, 7), generator=g),)
