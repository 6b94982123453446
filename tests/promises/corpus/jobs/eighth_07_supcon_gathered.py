"""Supervised contrastive loss (Khosla et al.) over the features of all ranks; each rank's anchors are its own samples, and
features are gathered with their gradient. The model's gradients are averaged by DDP."""

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as distnn
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

TEMPERATURE = 0.2


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(7, 12), nn.GELU())
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        return F.normalize(self.head(self.encoder(x)), dim=-1)


def supcon(anchors, labels, features, all_labels, first):
    own = torch.arange(first, first + anchors.shape[0])
    others = own.unsqueeze(1) != torch.arange(features.shape[0])
    logits = anchors @ features.t() / TEMPERATURE
    logits = logits.masked_fill(~others, -1e9)
    log_prob = logits - torch.logsumexp(logits, dim=1, keepdim=True)
    positive = ((labels.unsqueeze(1) == all_labels) & others).to(logits.dtype)
    per_anchor = -(log_prob * positive).sum(1) / positive.sum(1).clamp(min=1)
    return per_anchor.mean()


class SupCon(nn.Module):
    def __init__(self):
        super().__init__()
        self.projector = Projector()

    def forward(self, x, labels):
        z = self.projector(x)
        return supcon(z, labels, z, labels, 0)


class GatheredSupCon(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.projector = DistributedDataParallel(Projector())
        self.rank, self.world_size = rank, world_size

    def forward(self, x, labels):
        z = self.projector(x)
        features = torch.cat(distnn.all_gather(z))
        all_labels = [torch.empty_like(labels) for _ in range(self.world_size)]
        dist.all_gather(all_labels, labels)
        return supcon(z, labels, features, torch.cat(all_labels), self.rank * z.shape[0])


def sequential():
    return SupCon()


def distributed(rank, world_size):
    return GatheredSupCon(rank, world_size)


def inputs():
    return torch.randn(12, 7), torch.randint(0, 3, (12,))


world_size = 3
relations = {"x": "shard(0)", "labels": "shard(0)"}
expected = {"0": "partial(avg)"}
backward = True

TRUTH = "refines"
