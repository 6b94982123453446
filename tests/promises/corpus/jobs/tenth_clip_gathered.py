"""CLIP's loss under DistributedDataParallel: both towers' features are gathered with gradients, each rank takes the loss of its own rows and columns, and DDP averages what the gather has summed."""
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as DF
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(7, 5), nn.Linear(6, 5, bias=False)
        self.scale = nn.Parameter(torch.tensor(0.5))

    def encode(self, images, texts):
        return F.normalize(torch.tanh(self.image(images)), dim=-1), F.normalize(self.text(texts), dim=-1)


class Clip(Towers):
    def forward(self, images, texts):
        image, text = self.encode(images, texts)
        logits = self.scale.exp() * image @ text.T
        labels = torch.arange(len(logits))
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2


class GatheredClip(Towers):
    def forward(self, images, texts):
        image, text = self.encode(images, texts)
        images_all = torch.cat(DF.all_gather(image))
        texts_all = torch.cat(DF.all_gather(text))
        scale = self.scale.exp()
        labels = torch.arange(len(image)) + dist.get_rank() * len(image)
        by_image = F.cross_entropy(scale * image @ texts_all.T, labels)
        by_text = F.cross_entropy(scale * text @ images_all.T, labels)
        return (by_image + by_text) / 2


def sequential():
    return Clip()


def distributed(rank, world_size):
    return DistributedDataParallel(GatheredClip())


def inputs():
    return torch.randn(8, 7), torch.randn(8, 6)


world_size = 2
relations = {"images": "shard(0)", "texts": "shard(0)"}
expected = {"0": "partial(avg)"}
backward = True


TRUTH = "refines"
