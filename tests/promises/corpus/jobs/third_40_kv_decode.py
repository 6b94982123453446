import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "one decode step of grouped-query attention whose KV cache is split over heads and written in place at each row's position"
world_size = 2

E, NQ, NKV, HD, SLOTS = 12, 4, 2, 4, 6


class DecodeStep(nn.Module):
    def __init__(self, nq=NQ, nkv=NKV):
        super().__init__()
        self.nq, self.nkv = nq, nkv
        self.norm = nn.RMSNorm(E, eps=1e-6)
        self.q = nn.Linear(E, nq * HD, bias=False)
        self.k = nn.Linear(E, nkv * HD, bias=False)
        self.v = nn.Linear(E, nkv * HD, bias=False)
        self.o = nn.Linear(nq * HD, E, bias=False)

    def forward(self, x, k_cache, v_cache, pos):
        # x [B, E]; caches [B, heads, SLOTS, HD]; pos [B]
        B = x.shape[0]
        h = self.norm(x)
        q = self.q(h).view(B, self.nkv, self.nq // self.nkv, HD)
        at = pos.view(B, 1, 1, 1).expand(B, self.nkv, 1, HD)
        k_cache.scatter_(2, at, self.k(h).view(B, self.nkv, 1, HD))
        v_cache.scatter_(2, at, self.v(h).view(B, self.nkv, 1, HD))
        seen = torch.arange(SLOTS) <= pos[:, None]
        y = F.scaled_dot_product_attention(q, k_cache, v_cache, attn_mask=seen[:, None, None])
        return x + self.finish(self.o(y.reshape(B, -1)))

    def finish(self, y):
        return y


class DecodeStepTP(DecodeStep):
    def finish(self, y):
        dist.all_reduce(y)
        return y


@torch.no_grad()
def shard(full, rank, world):
    part = DecodeStepTP(NQ // world, NKV // world)
    part.norm.weight.copy_(full.norm.weight)
    for name in "qkv":
        getattr(part, name).weight.copy_(getattr(full, name).weight.chunk(world)[rank])
    part.o.weight.copy_(full.o.weight.chunk(world, dim=1)[rank])
    return part.requires_grad_(False)


def sequential():
    torch.manual_seed(0)
    return DecodeStep().requires_grad_(False)


def distributed(rank, world_size):
    return shard(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(1)
    return {"x": torch.randn(2, E), "k_cache": torch.randn(2, NKV, SLOTS, HD), "v_cache": torch.randn(2, NKV, SLOTS, HD),
            "pos": torch.tensor([3, 5])}


relations = {"k_cache": "shard(1)", "v_cache": "shard(1)"}
expected = {"k_cache after the call": "shard(1)", "v_cache after the call": "shard(1)"}
