"""Recommender: the item table is cut by rows over 3 ranks; a bag of items per user is averaged."""
import torch
import torch.distributed as dist
from torch import nn

world_size = 3
ITEMS, DIM = 15, 4


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(ITEMS, DIM))
        self.proj = nn.Linear(DIM, DIM)

    def forward(self, bags):
        return self.proj(self.table[bags].mean(1))


class RowTower(nn.Module):
    def __init__(self, tower, rank, n):
        super().__init__()
        self.rows = ITEMS // n
        self.first = rank * self.rows
        self.table = nn.Parameter(tower.table[self.first:self.first + self.rows].detach().clone())
        self.proj = tower.proj

    def forward(self, bags):
        local = bags - self.first
        foreign = (local < 0) | (local >= self.rows)
        vectors = self.table[local.masked_fill(foreign, 0)].masked_fill(foreign.unsqueeze(-1), 0)
        pooled = vectors.mean(1)
        dist.all_reduce(pooled)
        return self.proj(pooled)


def sequential():
    torch.manual_seed(7)
    return Tower()


def distributed(rank, world_size):
    return RowTower(sequential(), rank, world_size)


def inputs():
    return (torch.tensor([[0, 14, 7], [3, 4, 5], [9, 10, 1], [12, 2, 2]]),)


TRUTH = "refines"
