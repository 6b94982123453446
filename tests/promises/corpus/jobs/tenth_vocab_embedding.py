"""The vocabulary is cut as torch.chunk cuts it (3, 3, 3, 1), but the ranks' offsets are rank * (vocab // world_size), so that ids near the borders are looked up twice, elsewhere or not at all."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

VOCAB, DIM, LENGTH = 10, 8, 16


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM)
        self.positions = nn.Embedding(LENGTH, DIM)
        self.norm = nn.LayerNorm(DIM)

    def forward(self, ids):
        where = torch.arange(ids.shape[1])
        return self.norm(self.tokens(ids) + self.positions(where))


class VocabParallel(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.tokens = nn.Parameter(full.tokens.weight.detach().chunk(world_size)[rank].clone())
        self.start = rank * (VOCAB // world_size)
        self.positions, self.norm = full.positions, full.norm

    def forward(self, ids):
        local = ids - self.start
        outside = (local < 0) | (local >= self.tokens.shape[0])
        x = F.embedding(local.masked_fill(outside, 0), self.tokens)
        x = x.masked_fill(outside.unsqueeze(-1), 0.0)
        dist.all_reduce(x)
        return self.norm(x + self.positions(torch.arange(ids.shape[1])))


def sequential():
    return Embeddings()


def distributed(rank, world_size):
    return VocabParallel(Embeddings(), rank, world_size)


def inputs():
    return (torch.randint(0, VOCAB, (3, 9)),)


world_size = 4


TRUTH = "broken"
