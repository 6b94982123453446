"""Tensor parallel grouped-query attention with 8 query and 2 kv heads on 4 ranks, so that each kv head is on two ranks; (bug) a rank takes kv head rank % 2 instead of rank // 2."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HIDDEN, HEADS, KV, DIM = 16, 8, 2, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(HIDDEN, HEADS * DIM)
        self.k = nn.Linear(HIDDEN, KV * DIM)
        self.v = nn.Linear(HIDDEN, KV * DIM)
        self.o = nn.Linear(HEADS * DIM, HIDDEN)

    def forward(self, x):
        q, k, v = (w(x).unflatten(-1, (-1, DIM)).transpose(1, 2) for w in (self.q, self.k, self.v))
        k, v = (t.repeat_interleave(HEADS // KV, 1) for t in (k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(a.transpose(1, 2).flatten(2))


def rows(linear, index, parts):
    piece = nn.Linear(linear.in_features, linear.out_features // parts)
    piece.weight = nn.Parameter(linear.weight.detach().chunk(parts)[index].clone())
    piece.bias = nn.Parameter(linear.bias.detach().chunk(parts)[index].clone())
    return piece


class ParallelAttention(nn.Module):
    def __init__(self, full, rank, n):
        super().__init__()
        kv_parts = min(n, KV)
        kv_rank = rank % kv_parts
        self.q = rows(full.q, rank, n)
        self.k, self.v = rows(full.k, kv_rank, kv_parts), rows(full.v, kv_rank, kv_parts)
        self.o_weight = nn.Parameter(full.o.weight.detach().chunk(n, 1)[rank].clone())
        self.o_bias = full.o.bias

    def forward(self, x):
        q, k, v = (w(x).unflatten(-1, (-1, DIM)).transpose(1, 2) for w in (self.q, self.k, self.v))
        groups = q.shape[1] // k.shape[1]
        k, v = (t.repeat_interleave(groups, 1) for t in (k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        out = F.linear(a.transpose(1, 2).flatten(2), self.o_weight)
        dist.all_reduce(out)
        return out + self.o_bias


def sequential():
    return Attention()


def distributed(rank, world_size):
    return ParallelAttention(Attention(), rank, world_size)


def inputs():
    return torch.randn(2, 6, HIDDEN)


world_size = 4
TRUTH = "broken"
