"""CLIP's contrastive loss with features gathered from all ranks (gradients through the gather), local rows only, gradients averaged as DDP does."""
import math

import torch
import torch.distributed as dist
import torch.distributed.nn.functional
import torch.nn.functional as F
from torch import nn

IMAGE, TEXT, EMBED = 7, 5, 4


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(IMAGE, 8), nn.GELU(), nn.Linear(8, EMBED))
        self.text = nn.Sequential(nn.Linear(TEXT, 8), nn.GELU(), nn.Linear(8, EMBED))
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.3)))

    def forward(self, image, text):
        return F.normalize(self.image(image), dim=-1), F.normalize(self.text(text), dim=-1), self.logit_scale.exp()


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image, text):
        i, t, scale = self.model(image, text)
        logits = scale * i @ t.T
        labels = torch.arange(logits.shape[0])
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
        loss.backward()
        return loss.detach()


class GatheredStep(nn.Module):
    def __init__(self, model, rank, world_size):
        super().__init__()
        self.model, self.rank, self.world_size = model, rank, world_size

    def average_gradients(self):
        grads = [p.grad for p in self.model.parameters()]
        flat = torch.cat([g.reshape(-1) for g in grads])
        dist.all_reduce(flat)
        flat /= self.world_size
        for g, piece in zip(grads, flat.split([g.numel() for g in grads])):
            g.copy_(piece.view_as(g))

    def forward(self, image, text):
        i, t, scale = self.model(image, text)
        all_i = torch.cat(torch.distributed.nn.functional.all_gather(i), dim=0)
        all_t = torch.cat(torch.distributed.nn.functional.all_gather(t), dim=0)
        per_image, per_text = scale * i @ all_t.T, scale * t @ all_i.T
        labels = torch.arange(i.shape[0]) + self.rank * i.shape[0]
        loss = (F.cross_entropy(per_image, labels) + F.cross_entropy(per_text, labels)) / 2
        loss.backward()
        self.average_gradients()
        loss = loss.detach().clone()
        dist.all_reduce(loss)
        return loss / self.world_size


def sequential():
    return Step(Towers())


def distributed(rank, world_size):
    return GatheredStep(Towers(), rank, world_size)


def inputs():
    return torch.randn(6, IMAGE), torch.randn(6, TEXT)


world_size = 2
relations = {"image": "shard(0)", "text": "shard(0)"}


TRUTH = "refines"
