"""A long sequence cut into ranks' parts: for attention, every rank gathers the keys and values of all."""

import torch
import torch.distributed as dist
from megatron_attention import HEADS, SIZE, WIDTH, heads, rotated
from megatron_parts import generic
from torch import nn

world_size = 2
relations = {"x": "sharded(1)"}
expected = {"0": "sharded(1)"}


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(WIDTH, 3 * HEADS * SIZE), nn.Linear(HEADS * SIZE, WIDTH)

    def forward(self, x):
        q, k, v = map(heads, self.qkv(x).chunk(3, -1))
        return self.o(attend(rotated(q), rotated(k), v, 0, 0).transpose(1, 2).flatten(2))


def attend(q, k, v, first_query, first_key):
    """Causal attention of queries and keys that start at these places of the sequence."""
    return masked_scores(q, k, first_query, first_key).softmax(-1) @ v


def masked_scores(q, k, first_query, first_key):
    scores = q @ k.transpose(-1, -2) / SIZE**0.5
    queries = torch.arange(q.shape[2]) + first_query
    keys = torch.arange(k.shape[2]) + first_key
    return scores.masked_fill(keys > queries.unsqueeze(1), float("-inf"))


class Gathered(Attention):
    """All keys and values on every rank."""

    def __init__(self, rank, world_size, fault):
        super().__init__()
        self.rank, self.world_size, self.fault = rank, world_size, fault

    def start(self, x):
        """Where this rank's tokens start in the sequence."""
        return self.rank * x.shape[1]

    def offset(self, x):
        """The position of its first token, for rotary embedding."""
        return 0 if self.fault == "positions_from_zero_on_every_rank" else self.start(x)

    def split(self, x):
        q, k, v = map(heads, self.qkv(x).chunk(3, -1))
        return rotated(q, self.offset(x)), rotated(k, self.offset(x)), v

    def forward(self, x):
        q, k, v = self.split(x)
        k, v = self.whole(k), self.whole(v)
        return self.o(attend(q, k, v, self.start(x), 0).transpose(1, 2).flatten(2))

    def whole(self, x):
        x = x.contiguous()
        parts = [torch.empty_like(x) for _ in range(self.world_size)]
        dist.all_gather(parts, x)
        return torch.cat(parts[::-1] if self.fault == "parts_in_the_wrong_order" else parts, 2)


def sequential():
    return generic(Attention())


def distributed(rank, world_size, fault=None):
    return generic(Gathered(rank, world_size, fault))


def inputs():
    return (torch.randn(2, 6, WIDTH),)


faults = ("positions_from_zero_on_every_rank", "parts_in_the_wrong_order")
