import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = 'DLRM: embedding bags split by table, pooled vectors exchanged by all_to_all so that each rank has its part of the batch'
world_size = 2

TABLES, ROWS, DIM, BAG, BATCH, DENSE = 4, 10, 5, 3, 6, 7


class Dlrm(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.tables = nn.ModuleList(nn.EmbeddingBag(ROWS, DIM, mode="sum") for _ in range(TABLES))
        self.bottom = nn.Sequential(nn.Linear(DENSE, DIM), nn.ReLU())
        pairs = (TABLES + 1) * TABLES // 2
        self.top = nn.Sequential(nn.Linear(DIM + pairs, 8), nn.ReLU(), nn.Linear(8, 1))

    def interact(self, dense, pooled):
        # dense [b, DIM], pooled [b, TABLES, DIM]
        feats = torch.cat([dense[:, None], pooled], 1)
        dots = feats @ feats.transpose(1, 2)
        i, j = torch.tril_indices(TABLES + 1, TABLES + 1, offset=-1)
        return torch.cat([dense, dots[:, i, j]], 1)

    def forward(self, dense, sparse):  # sparse [TABLES, BATCH, BAG]
        pooled = torch.stack([t(idx) for t, idx in zip(self.tables, sparse)], 1)
        return torch.sigmoid(self.top(self.interact(self.bottom(dense), pooled)))


class ShardedDlrm(Dlrm):
    def __init__(self, rank, world):
        super().__init__()
        self.world = world
        own = TABLES // world
        self.tables = self.tables[rank * own:(rank + 1) * own]

    def forward(self, dense, sparse):  # dense [BATCH / world, DENSE]; sparse has this rank's tables, whole batch
        mine = torch.stack([t(idx) for t, idx in zip(self.tables, sparse)])  # [own, BATCH, DIM]
        own, batch, dim = mine.shape
        out = mine.view(own, self.world, batch // self.world, dim).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        pooled = got.flatten(0, 1).transpose(0, 1)
        return torch.sigmoid(self.top(self.interact(self.bottom(dense), pooled)))


def sequential():
    return Dlrm()


def distributed(rank, world_size):
    return ShardedDlrm(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return torch.randn(BATCH, DENSE), torch.randint(0, ROWS, (TABLES, BATCH, BAG))


relations = {"dense": "shard(0)", "sparse": "shard(0)"}
expected = {"0": "shard(0)"}
