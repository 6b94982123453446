"""Grouped-query attention with fewer KV heads than ranks: a rank takes KV head rank % 2 where its query heads belong to KV head rank // 2."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, KV_HEADS, HEAD_DIM = 6, 8, 2, 3


class Attention(nn.Module):
    def __init__(self, heads=HEADS, kv_heads=KV_HEADS):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        self.q = nn.Linear(DIM, heads * HEAD_DIM)
        self.k = nn.Linear(DIM, kv_heads * HEAD_DIM)
        self.v = nn.Linear(DIM, kv_heads * HEAD_DIM)
        self.o = nn.Linear(heads * HEAD_DIM, DIM, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q(x).view(b, t, self.heads, HEAD_DIM).transpose(1, 2)
        k = self.k(x).view(b, t, self.kv_heads, HEAD_DIM).transpose(1, 2)
        v = self.v(x).view(b, t, self.kv_heads, HEAD_DIM).transpose(1, 2)
        groups = self.heads // self.kv_heads
        k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(out.transpose(1, 2).reshape(b, t, self.heads * HEAD_DIM))


class ParallelAttention(Attention):
    def forward(self, x):
        out = super().forward(x)
        dist.all_reduce(out)
        return out


def load(mine, whole, rank, world_size):
    def rows(linear, start, heads):
        part = slice(start * HEAD_DIM, (start + heads) * HEAD_DIM)
        return linear.weight.data[part], linear.bias.data[part]

    for name in ("q", "k", "v"):
        if name == "q":
            start, heads = rank * mine.heads, mine.heads
        else:
            start, heads = rank % KV_HEADS, mine.kv_heads          # each KV head lies on several ranks
        weight, bias = rows(getattr(whole, name), start, heads)
        getattr(mine, name).weight.data.copy_(weight)
        getattr(mine, name).bias.data.copy_(bias)
    mine.o.weight.data.copy_(whole.o.weight.data.chunk(world_size, dim=1)[rank])


def sequential():
    return Attention()


def distributed(rank, world_size):
    whole = Attention()
    mine = ParallelAttention(HEADS // world_size, max(1, KV_HEADS // world_size))
    load(mine, whole, rank, world_size)
    return mine


def inputs():
    return (torch.randn(2, 5, DIM),)


world_size = 4
TRUTH = "broken"
