"""A sharpness-aware (SAM) step under DDP: climb along the gradient, take the gradient there, step from below."""
import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
import torch.nn.functional as F

RADIUS, RATE = 0.5, 0.5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


class Sharpness(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def quiet(self):
        return contextlib.nullcontext()

    def report(self, loss):
        return loss

    def forward(self, x, labels):
        weights = list(self.net.parameters())
        with self.quiet():                                   # the climb is undone again: no need to talk
            loss = F.cross_entropy(self.net(x), labels)
            loss.backward()
        with torch.no_grad():
            norm = torch.sqrt(sum(w.grad.square().sum() for w in weights))
            climbs = [RADIUS * w.grad / (norm + 1e-12) for w in weights]
            for w, climb in zip(weights, climbs):
                w.add_(climb)
                w.grad = None
        F.cross_entropy(self.net(x), labels).backward()
        with torch.no_grad():
            for w, climb in zip(weights, climbs):
                w.sub_(climb)
                w.sub_(RATE * w.grad)
                w.grad = None
        return self.report(loss.detach())


class ParallelSharpness(Sharpness):
    def quiet(self):
        return self.net.no_sync()

    def report(self, loss):
        loss = loss.clone()
        dist.all_reduce(loss)
        return loss / dist.get_world_size()


def sequential():
    return Sharpness(Net())


def distributed(rank, world_size):
    return ParallelSharpness(DistributedDataParallel(Net()))


def inputs():
    return torch.randn(8, 4), torch.randint(0, 3, (8,))


world_size = 2
relations = {"x": "shard(0)", "labels": "shard(0)"}


TRUTH = "does not refine"
