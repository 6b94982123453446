"""Context parallelism with gathered keys and values: the rotary positions are global, but is_causal=True counts a rank's queries from 0, so all ranks but the first look at the wrong keys."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, HD = 16, 4, 4


def rotate(x, positions):
    freq = 1.0 / 100.0 ** (torch.arange(HD // 2, dtype=x.dtype) * 2 / HD)
    angle = positions.to(x.dtype)[:, None] * freq
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(DIM, DIM, bias=False) for _ in range(4))

    def heads(self, x):
        return x.unflatten(-1, (HEADS, HD)).transpose(1, 2)

    def forward(self, x):
        at = torch.arange(x.shape[1])
        q, k, v = rotate(self.heads(self.q(x)), at), rotate(self.heads(self.k(x)), at), self.heads(self.v(x))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).flatten(2))


class ContextParallel(nn.Module):
    def __init__(self, model, rank, world_size):
        super().__init__()
        self.model, self.rank, self.world_size = model, rank, world_size

    def gather(self, x):
        parts = [torch.empty_like(x) for _ in range(self.world_size)]
        dist.all_gather(parts, x.contiguous())
        return torch.cat(parts, 2)

    def forward(self, x):
        m, local = self.model, x.shape[1]
        at = torch.arange(self.rank * local, (self.rank + 1) * local)
        q = rotate(m.heads(m.q(x)), at)
        k = self.gather(rotate(m.heads(m.k(x)), at).contiguous())
        v = self.gather(m.heads(m.v(x)).contiguous())
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return m.o(y.transpose(1, 2).flatten(2))


def sequential():
    return Attention()


def distributed(rank, world_size):
    return ContextParallel(Attention(), rank, world_size)


def inputs():
    return (torch.randn(2, 8, DIM),)


world_size = 4
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}


TRUTH = "broken"
