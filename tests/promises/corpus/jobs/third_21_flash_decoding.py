import math

import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = 'one decoded token over a KV cache sharded by positions; partial softmaxes merged by their log-sum-exps; a length mask'
world_size = 4

EMB, HEADS, KV, HD, CACHE = 16, 4, 2, 4, 12


class Decode(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(EMB, HEADS * HD, bias=False)
        self.o = nn.Linear(HEADS * HD, EMB, bias=False)

    def query(self, x):
        return self.q(x).view(-1, KV, HEADS // KV, HD) / math.sqrt(HD)

    def forward(self, x, k_cache, v_cache, lengths):
        # x [B, E]; caches [B, S, KV, hd]; lengths [B] valid positions
        s = torch.einsum("bkgd,bskd->bkgs", self.query(x), k_cache)
        valid = torch.arange(k_cache.shape[1])[None] < lengths[:, None]
        s = s.masked_fill(~valid[:, None, None], -1e30)
        o = torch.einsum("bkgs,bskd->bkgd", s.softmax(-1), v_cache)
        return self.o(o.flatten(1))


class SplitDecode(Decode):
    def __init__(self, rank, world):
        super().__init__()
        self.rank, self.world = rank, world

    def forward(self, x, k_cache, v_cache, lengths):
        n = k_cache.shape[1]
        s = torch.einsum("bkgd,bskd->bkgs", self.query(x), k_cache)
        pos = self.rank * n + torch.arange(n)
        s = s.masked_fill(~(pos[None] < lengths[:, None])[:, None, None], -1e30)
        lse = torch.logsumexp(s, -1)
        o = torch.einsum("bkgs,bskd->bkgd", torch.exp(s - lse[..., None]), v_cache)
        all_lse = [torch.empty_like(lse) for _ in range(self.world)]
        all_o = [torch.empty_like(o) for _ in range(self.world)]
        dist.all_gather(all_lse, lse)
        dist.all_gather(all_o, o)
        weights = torch.stack(all_lse).softmax(0)
        o = (torch.stack(all_o) * weights[..., None]).sum(0)
        return self.o(o.flatten(1))


def sequential():
    torch.manual_seed(8)
    return Decode()


def distributed(rank, world_size):
    torch.manual_seed(8)
    return SplitDecode(rank, world_size)


def inputs():
    torch.manual_seed(2)
    return {
        "x": torch.randn(2, EMB),
        "k_cache": torch.randn(2, CACHE, KV, HD),
        "v_cache": torch.randn(2, CACHE, KV, HD),
        "lengths": torch.tensor([12, 7]),
    }


relations = {"k_cache": "shard(1)", "v_cache": "shard(1)"}
