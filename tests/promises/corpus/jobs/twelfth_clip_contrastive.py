"""CLIP loss with features gathered over ranks through a differentiable gather, local logits against all, and averaged gradients."""
import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

IMAGE, TEXT, EMBED, BATCH = 7, 5, 4, 6


class Gather(torch.autograd.Function):
    """all_gather whose backward gives every rank the gradients that all ranks have for its piece."""

    @staticmethod
    def forward(ctx, x):
        pieces = [torch.empty_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(pieces, x.contiguous())
        ctx.rows = x.shape[0]
        return torch.cat(pieces)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        start = dist.get_rank() * ctx.rows
        return grad[start : start + ctx.rows]


class CLIP(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(IMAGE, EMBED), nn.Linear(TEXT, EMBED, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def encode(self, images, texts):
        return F.normalize(self.image(images), dim=-1), F.normalize(self.text(texts), dim=-1)

    def forward(self, images, texts):
        i, t = self.encode(images, texts)
        logits = self.logit_scale.exp() * i @ t.t()
        labels = torch.arange(logits.shape[0])
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


class DistributedCLIP(CLIP):
    def __init__(self, rank, world_size):
        super().__init__()
        self.rank, self.world_size = rank, world_size
        for p in self.parameters():
            p.register_hook(self.average)

    def average(self, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad / self.world_size

    def forward(self, images, texts):
        i, t = self.encode(images, texts)
        all_i, all_t = Gather.apply(i), Gather.apply(t)
        scale = self.logit_scale.exp()
        labels = torch.arange(i.shape[0]) + self.rank * i.shape[0]
        of_images = F.cross_entropy(scale * i @ all_t.t(), labels)
        of_texts = F.cross_entropy(scale * t @ all_i.t(), labels)
        return (of_images + of_texts) / 2


def sequential():
    return CLIP()


def distributed(rank, world_size):
    return DistributedCLIP(rank, world_size)


def inputs():
    return torch.randn(BATCH, IMAGE), torch.randn(BATCH, TEXT)


world_size = 3
backward = True
relations = {"images": "shard(0)", "texts": "shard(0)"}
expected = {"0": "partial(avg)"}
TRUTH = "refines"
