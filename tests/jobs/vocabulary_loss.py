"""The loss of a vocabulary that is dealt out to ranks, with its derivative written by hand: softmax minus one at the
target, which only the rank that has the target subtracts."""

import torch
import torch.distributed as dist
from megatron_parts import generic, shard
from torch import nn
from torch.nn.functional import cross_entropy

world_size = 2
backward = True
WORDS, WIDTH = 12, 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, x, targets):
        return cross_entropy(self.head(x.detach()), targets)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets, first, fault):
        mine = (targets >= first) & (targets < first + logits.shape[1])
        rows = ((targets - first) * mine).unsqueeze(1)
        top = logits.amax(1, keepdim=True)
        dist.all_reduce(top, dist.ReduceOp.MAX)
        weights = (logits - top).exp()
        total = weights.sum(1, keepdim=True)
        if fault != "local_normaliser":
            dist.all_reduce(total)
        picked = (logits - top).gather(1, rows) * mine.unsqueeze(1)
        dist.all_reduce(picked)
        ctx.save_for_backward(weights / total, rows, mine)
        ctx.fault = fault
        return (total.log() - picked).mean()

    @staticmethod
    def backward(ctx, grad):
        softmax, rows, mine = ctx.saved_tensors
        one = torch.ones_like(rows, dtype=grad.dtype)
        if ctx.fault != "one_subtracted_on_every_rank":
            one = one * mine.unsqueeze(1)
        gradient = softmax.scatter_add(1, rows, -one)
        if ctx.fault != "derivative_of_the_sum":
            gradient = gradient / rows.shape[0]
        return gradient * grad, None, None, None


class Parallel(nn.Module):
    def __init__(self, whole, rank, world_size, fault=None):
        super().__init__()
        self.head = shard(whole.head.weight, 0, rank, world_size)
        self.first, self.fault = rank * (WORDS // world_size), fault

    def forward(self, x, targets):
        return Loss.apply(x.detach() @ self.head.t(), targets, self.first, self.fault)


def sequential():
    return generic(Model())


def distributed(rank, world_size, fault=None):
    return Parallel(sequential(), rank, world_size, fault)


def inputs():
    return torch.randn(5, WIDTH), torch.randint(0, WORDS, (5,))


faults = ("local_normaliser", "one_subtracted_on_every_rank", "derivative_of_the_sum")
