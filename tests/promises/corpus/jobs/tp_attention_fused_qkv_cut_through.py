import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "does not refine"
WHY = 'the fused qkv weight is cut as one: rank 0 gets q and half of k, and reads it as q, k, v'
world_size = 2


class Attention(nn.Module):
    def __init__(self, d=16, heads=4):
        super().__init__()
        torch.manual_seed(0)
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.o = nn.Linear(d, d, bias=False)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).flatten(2))


class ParallelAttention(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        whole = Attention()
        self.heads = whole.heads // world_size
        self.qkv = nn.Parameter(whole.qkv.weight.detach().chunk(world_size, 0)[rank].clone())
        self.o = nn.Parameter(whole.o.weight.detach().chunk(world_size, 1)[rank].clone())

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in F.linear(x, self.qkv).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        out = F.linear(y.transpose(1, 2).flatten(2), self.o)
        dist.all_reduce(out)
        return out


def sequential():
    return Attention()


def distributed(rank, world_size):
    return ParallelAttention(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 5, 16),)
