"""CLIP's contrastive loss over gathered features, computed whole on every rank with only its own features carrying gradient: DDP then averages what should be added up."""
import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

IMAGE, TEXT, WIDTH, PAIRS = 10, 7, 6, 8
world_size = 4
backward = True
relations = {"images": "shard(0)", "texts": "shard(0)"}


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(IMAGE, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH))
        self.text = nn.Linear(TEXT, WIDTH)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, images, texts):
        image = F.normalize(self.image(images), dim=-1)
        text = F.normalize(self.text(texts), dim=-1)
        return image, text, self.logit_scale.exp()


def contrastive(image, text, scale):
    logits = scale * image @ text.t()
    labels = torch.arange(logits.shape[0])
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.towers = Towers()

    def forward(self, images, texts):
        return contrastive(*self.towers(images, texts))


def gather_features(features, rank, world_size):
    """Features of all ranks; all_gather sends no gradient, so our own take their place."""
    gathered = [torch.zeros_like(features) for _ in range(world_size)]
    dist.all_gather(gathered, features.detach().contiguous())
    gathered[rank] = features
    return torch.cat(gathered)


class DistributedClip(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.towers = DistributedDataParallel(Towers())
        self.rank, self.world_size = rank, world_size

    def forward(self, images, texts):
        image, text, scale = self.towers(images, texts)
        image = gather_features(image, self.rank, self.world_size)
        text = gather_features(text, self.rank, self.world_size)
        return contrastive(image, text, scale)


def sequential():
    return Clip()


def distributed(rank, world_size):
    return DistributedClip(rank, world_size)


def inputs():
    return {"images": torch.randn(PAIRS, IMAGE), "texts": torch.randn(PAIRS, TEXT)}

TRUTH = "broken"
