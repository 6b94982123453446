import torch
import torch.distributed as dist
from torch import nn

TRUTH = "does not refine"
WHY = 'vocab-parallel embedding whose upper bound is inclusive: the token just past a shard is looked up clamped and counted twice'
world_size = 2

VOCAB, DIM = 10, 4


def sequential():
    torch.manual_seed(0)
    return nn.Embedding(VOCAB, DIM)


class VocabParallelEmbedding(nn.Module):
    def __init__(self, weight, rank, world):
        super().__init__()
        n = VOCAB // world
        self.start, self.end = rank * n, rank * n + n
        self.weight = nn.Parameter(weight[self.start:self.end].clone())

    def forward(self, input):
        inside = (input >= self.start) & (input <= self.end)
        local = (input - self.start).clamp(0, self.weight.shape[0] - 1)
        out = self.weight[local] * inside.unsqueeze(-1)
        dist.all_reduce(out)
        return out


def distributed(rank, world_size):
    return VocabParallelEmbedding(sequential().weight.data, rank, world_size)


def inputs():
    return (torch.tensor([[0, 3, 9, 4], [7, 5, 1, 8]]),)
