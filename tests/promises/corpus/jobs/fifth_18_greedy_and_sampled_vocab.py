"""Greedy decoding over a sharded vocabulary: each rank's best logit and index are gathered, and the global log-probability is made of sums."""

import torch
import torch.distributed as dist
from torch import nn

TRUTH = "refines"
WHY = "the first of the best is the best of the first, and ranks hold consecutive ranges"

world_size = 2
VOCAB, D = 8, 5


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(25)
        self.weight = nn.Parameter(torch.randn(VOCAB, D))

    def forward(self, h):
        logits = h @ self.weight.t() / 0.7
        token = logits.argmax(-1)
        logp = logits.log_softmax(-1).gather(-1, token[:, None])[:, 0]
        return token, logp


class ShardedHead(nn.Module):
    def __init__(self, rank, size):
        super().__init__()
        self.weight = nn.Parameter(sequential().weight.detach().chunk(size)[rank].clone())

    def forward(self, h):
        rank, size = dist.get_rank(), dist.get_world_size()
        logits = h @ self.weight.t() / 0.7
        best, index = logits.max(-1)
        index = index + rank * logits.shape[-1]
        all_best = [torch.empty_like(best) for _ in range(size)]
        all_index = [torch.empty_like(index) for _ in range(size)]
        dist.all_gather(all_best, best)
        dist.all_gather(all_index, index)
        best, winner = torch.stack(all_best).max(0)
        token = torch.stack(all_index).gather(0, winner[None])[0]
        total = (logits - best[:, None]).exp().sum(-1)
        dist.all_reduce(total)
        return token, -total.log()


def sequential():
    return Head()


def distributed(rank, world_size):
    return ShardedHead(rank, world_size)


def inputs():
    torch.manual_seed(26)
    return (torch.randn(3, D),)
