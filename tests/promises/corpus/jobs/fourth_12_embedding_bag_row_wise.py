"""An embedding bag whose rows are spread over ranks: ids are gathered, each rank pools what it has, a reduce-scatter brings it home."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Rows that a rank does not own count zero in its pooling, and the sums over ranks come back to the rank whose samples they are."

world_size = 4
relations = {"ids": "shard(0)", "weights": "shard(0)"}
expected = {"0": "shard(0)"}

ROWS, DIM, OUT = 20, 6, 5


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(ROWS, DIM, mode="sum")
        self.over = nn.Linear(DIM, OUT)

    def forward(self, ids, weights):
        pooled = self.table(ids, per_sample_weights=weights)
        return self.over(pooled / weights.sum(-1, keepdim=True))


class RowWise(nn.Module):
    def __init__(self, full, rank, size):
        super().__init__()
        self.rows = ROWS // size
        self.start = rank * self.rows
        self.table = nn.Parameter(full.table.weight.detach()[self.start : self.start + self.rows].clone())
        self.over = full.over

    def forward(self, ids, weights):
        size = dist.get_world_size()
        all_ids = ids.new_empty(size * ids.shape[0], ids.shape[1])
        all_weights = weights.new_empty(size * ids.shape[0], ids.shape[1])
        dist.all_gather_into_tensor(all_ids, ids)
        dist.all_gather_into_tensor(all_weights, weights)
        local = all_ids - self.start
        mine = (local >= 0) & (local < self.rows)
        part = F.embedding_bag(local.clamp(0, self.rows - 1), self.table, mode="sum", per_sample_weights=all_weights * mine)
        pooled = part.new_empty(ids.shape[0], DIM)
        dist.reduce_scatter_tensor(pooled, part)
        return self.over(pooled / weights.sum(-1, keepdim=True))


def sequential():
    torch.manual_seed(23)
    return Bags()


def distributed(rank, world_size):
    return RowWise(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(24)
    return torch.randint(0, ROWS, (8, 3)), torch.rand(8, 3) + 0.1
