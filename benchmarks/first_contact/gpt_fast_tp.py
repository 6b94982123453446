"""Tensor parallelism as gpt-fast applies it: weights cut in place, all-reduces by forward hooks."""
import torch
from torch import nn
from torch.distributed import _functional_collectives as funcol
from torch.nn.functional import scaled_dot_product_attention as sdpa, silu
import torch.distributed as dist

world_size = 2


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w3, self.w2 = nn.Linear(16, 24, bias=False), nn.Linear(16, 24, bias=False), nn.Linear(24, 16, bias=False)

    def forward(self, x):
        return self.w2(silu(self.w1(x)) * self.w3(x))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wqkv, self.wo = nn.Linear(16, 32, bias=False), nn.Linear(16, 16, bias=False)
        self.n_head, self.n_local_heads, self.head_dim, self.dim = 4, 2, 4, 16

    def forward(self, x):
        b, s, _ = x.shape
        kv = self.n_local_heads * self.head_dim
        q, k, v = self.wqkv(x).split([self.dim, kv, kv], dim=-1)
        q = q.view(b, s, self.n_head, self.head_dim).transpose(1, 2)
        k = k.view(b, s, self.n_local_heads, self.head_dim).transpose(1, 2).repeat_interleave(self.n_head // self.n_local_heads, dim=1)
        v = v.view(b, s, self.n_local_heads, self.head_dim).transpose(1, 2).repeat_interleave(self.n_head // self.n_local_heads, dim=1)
        y = sdpa(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).contiguous().view(b, s, self.dim))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.feed_forward = Attention(), FeedForward()
        self.n1, self.n2 = nn.RMSNorm(16), nn.RMSNorm(16)

    def forward(self, x):
        h = x + self.attention(self.n1(x))
        return h + self.feed_forward(self.n2(h))


def cut(linear, dim, sizes, rank, n):
    if sizes:
        parts = linear.weight.split(sizes, dim=0)
        whole = torch.cat([p.tensor_split(n, dim=0)[rank] for p in parts])
    else:
        whole = linear.weight.tensor_split(n, dim=dim)[rank]
    linear.weight = nn.Parameter(whole.detach().clone(), requires_grad=False)


def sequential():
    return Block()


def distributed(rank, world_size):
    block = Block()
    a, f = block.attention, block.feed_forward
    cut(a.wqkv, 0, [16, 8, 8], rank, world_size)
    cut(a.wo, 1, None, rank, world_size)
    a.n_head, a.n_local_heads, a.dim = a.n_head // world_size, a.n_local_heads // world_size, a.dim // world_size
    cut(f.w1, 0, None, rank, world_size)
    cut(f.w3, 0, None, rank, world_size)
    cut(f.w2, 1, None, rank, world_size)
    ranks = list(range(world_size))
    for part in (a, f):
        part.register_forward_hook(lambda _m, _i, out: funcol.all_reduce(out, "sum", ranks))
    return block


def inputs():
    return (torch.randn(2, 5, 16),)
