"""CLIP over a batch that ranks share: features gathered with their gradients, each rank scores its own rows against all."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "labels are offset by rank, gathering gives back each rank's own part of the summed gradient, losses and gradients are means over ranks"

world_size = 2
relations = {"image": "shard(0)", "text": "shard(0)"}


class GatherLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        parts = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, x.contiguous())
        return tuple(parts)

    @staticmethod
    def backward(ctx, *grads):
        all_grads = torch.stack(grads)
        dist.all_reduce(all_grads)
        return all_grads[dist.get_rank()]


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.vision = nn.Linear(6, 5)
        self.language = nn.Linear(7, 5)
        self.logit_scale = nn.Parameter(torch.tensor(2.0))

    def gathered(self, z):
        return z, 0

    def average(self, t):
        return t

    def forward(self, image, text):
        self.zero_grad()
        zi = F.normalize(self.vision(image), dim=-1)
        zt = F.normalize(self.language(text), dim=-1)
        all_i, start = self.gathered(zi)
        all_t, _ = self.gathered(zt)
        scale = self.logit_scale.exp()
        labels = torch.arange(zi.shape[0]) + start
        loss = (F.cross_entropy(scale * zi @ all_t.t(), labels) + F.cross_entropy(scale * zt @ all_i.t(), labels)) / 2
        loss.backward()
        return self.average(loss.detach()), [self.average(p.grad) for p in self.parameters()]


class ClipParallel(Clip):
    def gathered(self, z):
        return torch.cat(GatherLayer.apply(z)), dist.get_rank() * z.shape[0]

    def average(self, t):
        t = t.clone()
        dist.all_reduce(t)
        return t / dist.get_world_size()


def sequential():
    return Clip()


def distributed(rank, world_size):
    return ClipParallel()


def inputs():
    torch.manual_seed(1)
    return torch.randn(6, 6), torch.randn(6, 7)
