"""ZeRO-2 by hand: one flat gradient is reduce-scattered, clipped by the global norm, AdamW steps on a shard, weights are gathered."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import clip_grad_norm_

TRUTH = "refines"
WHY = "the squares of all shards are summed for the norm, and AdamW goes element by element"

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}

LR, B1, B2, EPS, DECAY, CLIP = 1e-2, 0.9, 0.95, 1e-8, 0.1, 0.5


def model():
    torch.manual_seed(27)
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))


class Train(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = model()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=LR, betas=(B1, B2), eps=EPS, weight_decay=DECAY)

    def forward(self, x, y):
        self.opt.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        norm = clip_grad_norm_(self.net.parameters(), CLIP)
        self.opt.step()
        return loss.detach(), norm


class Zero2(nn.Module):
    def __init__(self, rank, world):
        super().__init__()
        self.net = model()
        n = sum(p.numel() for p in self.net.parameters())
        self.size = -(-n // world)
        self.m, self.v, self.t = torch.zeros(self.size), torch.zeros(self.size), 0

    def flat(self, tensors):
        world = dist.get_world_size()
        flat = torch.cat([t.flatten() for t in tensors])
        return F.pad(flat, (0, self.size * world - flat.numel()))

    def forward(self, x, y):
        rank, world = dist.get_rank(), dist.get_world_size()
        self.net.zero_grad()
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        params = list(self.net.parameters())
        grad = torch.empty(self.size)
        dist.reduce_scatter_tensor(grad, self.flat([p.grad for p in params]))
        grad /= world
        norm = grad.square().sum()
        dist.all_reduce(norm)
        norm = norm.sqrt()
        grad *= torch.clamp(CLIP / (norm + 1e-6), max=1.0)
        self.t += 1
        self.m = B1 * self.m + (1 - B1) * grad
        self.v = B2 * self.v + (1 - B2) * grad * grad
        mine = self.flat([p.detach() for p in params]).chunk(world)[rank]
        mine = mine * (1 - LR * DECAY)
        denominator = (self.v / (1 - B2**self.t)).sqrt() + EPS
        mine = mine - LR * (self.m / (1 - B1**self.t)) / denominator
        full = torch.empty(self.size * world)
        dist.all_gather_into_tensor(full, mine)
        at = 0
        with torch.no_grad():
            for p in params:
                p.copy_(full[at : at + p.numel()].view_as(p))
                at += p.numel()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        return mean / world, norm


def sequential():
    return Train()


def distributed(rank, world_size):
    return Zero2(rank, world_size)


def inputs():
    torch.manual_seed(28)
    return {"x": torch.randn(6, 4), "y": torch.randint(0, 3, (6,))}
