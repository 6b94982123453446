"""DeepSpeed-Ulysses attention with ALiBi: all-to-all from pieces of the sequence to groups of heads and back, with gradients of the replicated weights left partial."""
import math

import torch
import torch.distributed as dist
from torch import nn

WIDTH, HEADS, BATCH, POSITIONS = 8, 4, 2, 6
DIM = WIDTH // HEADS
world_size = 2
backward = True
relations = {"x": "shard(1)"}
expected = {
    "0": "shard(1)",
    "grad.qkv.weight": "partial",
    "grad.qkv.bias": "partial",
    "grad.out.weight": "partial",
    "grad.out.bias": "partial",
}


def alibi(first, count, positions):
    slopes = torch.tensor([2.0 ** (-8.0 * (i + 1) / HEADS) for i in range(first, first + count)])
    distance = torch.arange(positions)[None, :] - torch.arange(positions)[:, None]
    bias = slopes[:, None, None] * distance
    return bias.masked_fill(distance > 0, float("-inf"))


def attend(q, k, v, bias):
    """q, k, v: batch, positions, heads, DIM."""
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(DIM) + bias
    return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (HEADS, DIM)) for t in self.qkv(x).chunk(3, dim=-1))
        return self.out(attend(q, k, v, alibi(0, HEADS, x.shape[1])).flatten(2))


def all_to_all(x, scatter_dim, gather_dim):
    n = dist.get_world_size()
    sent = [piece.contiguous() for piece in x.chunk(n, dim=scatter_dim)]
    sent = torch.stack(sent)
    received = torch.empty_like(sent)
    dist.all_to_all_single(received, sent)
    return torch.cat(received.unbind(0), dim=gather_dim)


class SeqAllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scatter_dim, gather_dim):
        ctx.dims = scatter_dim, gather_dim
        return all_to_all(x, scatter_dim, gather_dim)

    @staticmethod
    def backward(ctx, grad):
        scatter_dim, gather_dim = ctx.dims
        return all_to_all(grad, gather_dim, scatter_dim), None, None


class UlyssesAttention(nn.Module):
    def __init__(self, whole, rank, world_size):
        super().__init__()
        self.qkv, self.out = whole.qkv, whole.out
        self.heads = HEADS // world_size
        self.first_head = rank * self.heads

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (HEADS, DIM)) for t in self.qkv(x).chunk(3, dim=-1))
        q, k, v = (SeqAllToAll.apply(t, 2, 1) for t in (q, k, v))       # all positions of my heads
        bias = alibi(self.first_head, self.heads, q.shape[1])
        y = SeqAllToAll.apply(attend(q, k, v, bias), 1, 2)              # all heads of my positions
        return self.out(y.flatten(2))


def sequential():
    return Attention()


def distributed(rank, world_size):
    return UlyssesAttention(Attention(), rank, world_size)


def inputs():
    return (torch.randn(BATCH, POSITIONS, WIDTH),)

TRUTH = "refines"
