"""A long sequence cut into ranks' parts: for attention, ranks exchange tokens for heads, and back."""

import torch
import torch.distributed as dist
from context_parallel import Gathered, attend, expected, inputs, relations, sequential, world_size
from megatron_parts import generic

__all__ = ["expected", "inputs", "relations", "sequential", "world_size"]


class Ulysses(Gathered):
    """All tokens of some heads, instead of some tokens of all heads."""

    def forward(self, x):
        q, k, v = (self.exchanged(y, 1, 2) for y in self.split(x))
        y = self.exchanged(attend(q, k, v, 0, 0), 2, 1)
        return self.o(y.transpose(1, 2).flatten(2))

    def exchanged(self, x, cut, joined):
        """Cut along one dimension, and put together along the other what comes from all ranks."""
        given = torch.stack(x.chunk(self.world_size, cut)).contiguous()
        taken = torch.empty_like(given)
        dist.all_to_all_single(taken, given)
        return torch.cat(taken.unbind(0), joined)


def distributed(rank, world_size, fault=None):
    return generic(Ulysses(rank, world_size, fault))


faults = ("positions_from_zero_on_every_rank",)
