import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = 'the mask is ids > first + n: the first id of the next rank is looked up here, too (clamped)'
world_size = 3


class Embed(nn.Module):
    def __init__(self, vocab=12, d=6):
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(vocab, d))

    def forward(self, ids):
        return F.embedding(ids, self.weight)


class VocabParallelEmbed(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        whole = Embed()
        self.n = whole.weight.shape[0] // world_size
        self.first = rank * self.n
        self.weight = nn.Parameter(whole.weight.detach()[self.first : self.first + self.n].clone())

    def forward(self, ids):
        outside = (ids < self.first) | (ids > self.first + self.n)
        local = (ids - self.first).clamp(0, self.n - 1)
        out = F.embedding(local, self.weight).masked_fill(outside.unsqueeze(-1), 0.0)
        dist.all_reduce(out)
        return out


def sequential():
    return Embed()


def distributed(rank, world_size):
    return VocabParallelEmbed(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randint(0, 12, (3, 7)),)
