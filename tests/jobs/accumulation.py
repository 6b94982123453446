"""Data parallelism with gradient accumulation: the loss is the mean over all tokens that count, of all micro-batches
and ranks, so each has to be divided by the count of all."""

import torch
import torch.distributed as dist
from megatron_parts import generic
from torch import nn
from torch.nn.functional import cross_entropy

world_size = 2
WORDS, WIDTH, STEPS = 7, 6, 2
relations = {"x": "sharded(0)", "targets": "sharded(0)"}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.head = nn.Linear(WIDTH, 10), nn.Linear(10, WORDS)

    def forward(self, x):
        return self.head(self.up(x).tanh())


def sequential():
    model = generic(Model())

    def step(x, targets):
        loss = cross_entropy(model(x).flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum")
        loss = loss / (targets != -100).sum()
        return named(model, loss, torch.autograd.grad(loss, list(model.parameters())))

    return step


def named(model, loss, grads):
    return {"loss": loss} | {f"grad.{name}": g for (name, _), g in zip(model.named_parameters(), grads, strict=True)}


def distributed(rank, world_size, fault=None):
    model = generic(Model())

    def step(x, targets):
        weights = list(model.parameters())
        grads, total = [torch.zeros_like(weight) for weight in weights], torch.zeros(())
        count = (targets != -100).sum()
        dist.all_reduce(count)
        for part, wanted in zip(x.chunk(STEPS), targets.chunk(STEPS), strict=True):
            loss = cross_entropy(model(part).flatten(0, 1), wanted.flatten(), ignore_index=-100, reduction="sum")
            if fault == "mean_of_each_micro_batch":
                loss = loss / (wanted != -100).sum() / (STEPS * world_size)
            else:
                loss = loss / count
            total += loss.detach()
            for grad, more in zip(grads, torch.autograd.grad(loss, weights), strict=True):
                grad += more
        dist.all_reduce(total)
        for grad in grads:
            if fault != "one_rank_only":
                dist.all_reduce(grad)
        return named(model, total, grads)

    return step


def inputs():
    targets = torch.randint(0, WORDS, (4, 5))
    targets[torch.rand(4, 5) < 0.4] = -100
    return {"x": torch.randn(4, 5, WIDTH), "targets": targets}


faults = ("mean_of_each_micro_batch", "one_rank_only")
