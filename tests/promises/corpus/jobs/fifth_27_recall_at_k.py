"""Retrieval over a sharded index: cosine scores of each shard, recall at one from the rank of the right document."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

TRUTH = "refines"
WHY = "the rank of a document is one plus the number of better ones on all shards, and its score comes from the shard that has it"

world_size = 2
relations = {"docs": "shard(0)"}


def scores(queries, docs):
    return F.normalize(queries, dim=-1) @ F.normalize(docs, dim=-1).t()


def sequential():
    def run(queries, docs, right):
        s = scores(queries, docs)
        own = s.gather(1, right[:, None])
        rank = 1 + (s > own).sum(1)
        return {"mrr": (1.0 / rank).mean(), "hit": (rank <= 2).float().mean()}

    return run


def distributed(rank, world_size):
    def run(queries, docs, right):
        s = scores(queries, docs)
        n = docs.shape[0]
        local = right - rank * n
        here = (local >= 0) & (local < n)
        own = s.gather(1, local.clamp(0, n - 1)[:, None])[:, 0]
        own = torch.where(here, own, torch.zeros(()))
        dist.all_reduce(own)
        better = (s > own[:, None]).sum(1)
        dist.all_reduce(better)
        place = 1 + better
        return {"mrr": (1.0 / place).mean(), "hit": (place <= 2).float().mean()}

    return run


def inputs():
    torch.manual_seed(39)
    return {"queries": torch.randn(3, 4), "docs": torch.randn(6, 4), "right": torch.tensor([1, 5, 2])}
