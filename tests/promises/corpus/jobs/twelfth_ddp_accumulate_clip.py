"""DistributedDataParallel with gradient accumulation under no_sync, gradient clipping and a step of SGD with momentum and weight decay."""
import contextlib

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

FEATURES, HIDDEN, CLASSES = 5, 7, 3
MAX_NORM = 0.1


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(FEATURES)
        self.hidden = nn.Linear(FEATURES, HIDDEN)
        self.head = nn.Linear(HIDDEN, CLASSES)

    def forward(self, x):
        return self.head(F.gelu(self.hidden(self.norm(x))))


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.optimizer = model, sgd(model)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        self.optimizer.step()
        return loss.detach(), norm


class DDPStep(nn.Module):
    def __init__(self, model, world_size, accumulate=3):
        super().__init__()
        self.model = DDP(model)
        self.optimizer = sgd(self.model)
        self.world_size, self.accumulate = world_size, accumulate

    def forward(self, x, y):
        self.optimizer.zero_grad()
        total = 0.0
        pieces = list(zip(x.chunk(self.accumulate), y.chunk(self.accumulate)))
        for i, (xs, ys) in enumerate(pieces):
            last = i == len(pieces) - 1
            with contextlib.nullcontext() if last else self.model.no_sync():
                loss = F.cross_entropy(self.model(xs), ys) / self.accumulate
                loss.backward()
            total = total + loss.detach()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), MAX_NORM)
        self.optimizer.step()
        dist.all_reduce(total)
        return total / self.world_size, norm


def sequential():
    return Step(Classifier())


def distributed(rank, world_size):
    return DDPStep(Classifier(), world_size)


def inputs():
    return torch.randn(12, FEATURES), torch.randint(0, CLASSES, (12,))


world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
TRUTH = "refines"
