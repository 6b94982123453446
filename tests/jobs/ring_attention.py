"""A long sequence cut into ranks' parts: keys and values are passed round a ring, and each rank keeps the running
maximum and sum of online softmax."""

import torch
import torch.distributed as dist
from context_parallel import Gathered, expected, inputs, masked_scores, relations, sequential, world_size
from megatron_parts import generic

__all__ = ["expected", "inputs", "relations", "sequential", "world_size"]


class Ring(Gathered):
    """One part of the keys and values after the other."""

    def forward(self, x):
        q, k, v = self.split(x)
        tokens = x.shape[1]
        top = torch.full((*q.shape[:3], 1), float("-inf"))
        total, mixed = torch.zeros_like(top), torch.zeros_like(q)
        for turn in range(self.world_size):
            owner = (self.rank - turn) % self.world_size
            scores = masked_scores(q, k, self.start(x), owner * tokens)
            if owner <= self.rank:                         # later tokens are not looked at
                new = torch.maximum(top, scores.amax(-1, keepdim=True))
                weights, shrink = (scores - new).exp(), (top - new).exp()
                if self.fault == "no_rescaling":
                    shrink = torch.ones_like(shrink)
                total, mixed, top = total * shrink + weights.sum(-1, keepdim=True), mixed * shrink + weights @ v, new
            if turn + 1 < self.world_size:
                k, v = self.passed_on(k), self.passed_on(v)
        return self.o((mixed / total).transpose(1, 2).flatten(2))

    def passed_on(self, x):
        came = torch.empty_like(x.contiguous())
        calls = [
            dist.P2POp(dist.isend, x.contiguous(), (self.rank + 1) % self.world_size),
            dist.P2POp(dist.irecv, came, (self.rank - 1) % self.world_size),
        ]
        for work in dist.batch_isend_irecv(calls):
            work.wait()
        return came


def distributed(rank, world_size, fault=None):
    return generic(Ring(rank, world_size, fault))


faults = ("positions_from_zero_on_every_rank", "no_rescaling")
