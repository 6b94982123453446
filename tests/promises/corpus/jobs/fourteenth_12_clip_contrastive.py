"""CLIP loss as OpenCLIP's local loss with gradients through the gather, under DDP (loss is a mean over ranks), 4 ranks, backward."""
import math

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dist_nn
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(6, 5, bias=False), nn.Linear(4, 5)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def embed(self, images, texts):
        return F.normalize(self.image(images), dim=-1), F.normalize(self.text(texts), dim=-1)

    def forward(self, images, texts):
        i, t = self.embed(images, texts)
        logits = self.logit_scale.exp() * i @ t.t()
        labels = torch.arange(logits.shape[0])
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


class LocalLoss(TwoTowers):
    def __init__(self, rank):
        super().__init__()
        self.rank = rank

    def forward(self, images, texts):
        i, t = self.embed(images, texts)
        all_i = torch.cat(dist_nn.all_gather(i.contiguous()))
        all_t = torch.cat(dist_nn.all_gather(t.contiguous()))
        scale = self.logit_scale.exp()
        labels = torch.arange(i.shape[0]) + self.rank * i.shape[0]
        return (F.cross_entropy(scale * i @ all_t.t(), labels) + F.cross_entropy(scale * t @ all_i.t(), labels)) / 2


def sequential():
    return TwoTowers()


def distributed(rank, world_size):
    return DDP(LocalLoss(rank))


def inputs():
    return torch.randn(8, 6), torch.randn(8, 4)


world_size = 4
backward = True
relations = {"images": "shard(0)", "texts": "shard(0)"}
expected = {"0": "partial(avg)"}

TRUTH = "refines"
