"""Ulysses attention with grouped kv heads, rotary positions offset by rank, all_to_all_single of torch.distributed.nn, wrapped in DDP, which averages the gradients; loss is a partial(avg)."""
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dnn
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

HIDDEN, HEADS, KV, DIM = 16, 4, 2, 4


def rotate(x, start):
    """x: (b, s, heads, dim), whose first position is `start`."""
    freq = 100.0 ** (-torch.arange(0, DIM, 2) / DIM)
    angle = (torch.arange(x.shape[1]) + start)[:, None] * freq
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def attend(q, k, v):
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(HIDDEN)
        self.q = nn.Linear(HIDDEN, HEADS * DIM)
        self.k = nn.Linear(HIDDEN, KV * DIM)
        self.v = nn.Linear(HIDDEN, KV * DIM)
        self.o = nn.Linear(HEADS * DIM, HIDDEN)

    def start(self, x):
        return 0

    def attention(self, q, k, v):
        return attend(q, k, v)

    def forward(self, x, target):
        h, start = self.norm(x), self.start(x)
        q = rotate(self.q(h).unflatten(-1, (HEADS, DIM)), start)
        k = rotate(self.k(h).unflatten(-1, (KV, DIM)), start)
        v = self.v(h).unflatten(-1, (KV, DIM))
        out = x + self.o(self.attention(q, k, v).flatten(2))
        return F.mse_loss(out, target)


def to_heads(x):
    """(b, s/n, heads, d) -> (b, s, heads/n, d)"""
    n = dist.get_world_size()
    b, s, h, d = x.shape
    x = x.view(b, s, n, h // n, d).permute(2, 1, 0, 3, 4).contiguous()        # n, s/n, b, h/n, d
    x = dnn.all_to_all_single(torch.empty_like(x), x)
    return x.flatten(0, 1).transpose(0, 1)


def to_sequence(x):
    """(b, s, heads/n, d) -> (b, s/n, heads, d)"""
    n = dist.get_world_size()
    b, s, h, d = x.shape
    x = x.transpose(0, 1).reshape(n, s // n, b, h, d).contiguous()
    x = dnn.all_to_all_single(torch.empty_like(x), x)
    return x.permute(2, 1, 0, 3, 4).reshape(b, s // n, n * h, d)


class Ulysses(Layer):
    def start(self, x):
        return dist.get_rank() * x.shape[1]

    def attention(self, q, k, v):
        return to_sequence(attend(to_heads(q), to_heads(k), to_heads(v)))


def sequential():
    return Layer()


def distributed(rank, world_size):
    return DistributedDataParallel(Ulysses())


def inputs():
    return {"x": torch.randn(2, 8, HIDDEN), "target": torch.randn(2, 8, HIDDEN)}


world_size = 2
backward = True
relations = {"x": "shard(1)", "target": "shard(1)"}
expected = {"0": "partial(avg)"}
TRUTH = "refines"
