import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'CLIP loss over gathered, normalised features; each rank scores its own rows and the halves are averaged'
world_size = 2


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(10, 6)
        self.text = nn.Linear(7, 6)
        self.logit_scale = nn.Parameter(torch.tensor(1.5))

    def features(self, image, text):
        return F.normalize(self.image(image), dim=-1), F.normalize(self.text(text), dim=-1)

    @torch.no_grad()
    def forward(self, image, text):
        i, t = self.features(image, text)
        logits = self.logit_scale.exp() * i @ t.T
        labels = torch.arange(len(i))
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2


class DistributedClip(Clip):
    @torch.no_grad()
    def forward(self, image, text):
        rank, world = dist.get_rank(), dist.get_world_size()
        i, t = self.features(image, text)
        n = i.shape[0]
        every_i = torch.empty(world * n, i.shape[1], dtype=i.dtype)
        every_t = torch.empty(world * n, t.shape[1], dtype=t.dtype)
        dist.all_gather_into_tensor(every_i, i)
        dist.all_gather_into_tensor(every_t, t)
        scale = self.logit_scale.exp()
        labels = rank * n + torch.arange(n)
        loss = F.cross_entropy(scale * i @ every_t.T, labels) + F.cross_entropy(scale * t @ every_i.T, labels)
        loss = loss / 2
        dist.all_reduce(loss)
        return loss / world


def sequential():
    torch.manual_seed(0)
    return Clip()


def distributed(rank, world_size):
    torch.manual_seed(0)
    return DistributedClip()


def inputs():
    torch.manual_seed(1)
    return torch.randn(4, 10), torch.randn(4, 7)


relations = {"image": "shard(0)", "text": "shard(0)"}
