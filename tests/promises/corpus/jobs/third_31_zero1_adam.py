import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

TRUTH = "refines"
WHY = "ZeRO-1 by hand: gradients reduce-scattered, AdamW on each rank's rows of every weight, weights gathered again"
world_size = 2


def make_net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 8), nn.GELU(), nn.Linear(8, 4))


OPT = dict(lr=1e-2, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)


class Trainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = make_net()
        self.opt = torch.optim.AdamW(self.net.parameters(), foreach=False, **OPT)

    def forward(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        return loss.detach()


class ZeroTrainer(nn.Module):
    def __init__(self, rank, world):
        super().__init__()
        self.rank, self.world = rank, world
        self.net = make_net()
        self.full = list(self.net.parameters())
        self.shards = [p.data.chunk(world)[rank].clone().requires_grad_() for p in self.full]
        self.opt = torch.optim.AdamW(self.shards, foreach=False, **OPT)

    def forward(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        for p, s in zip(self.full, self.shards):
            s.grad = torch.empty_like(s)
            dist.reduce_scatter_tensor(s.grad, p.grad.contiguous())
            s.grad /= self.world
            p.grad = None
        self.opt.step()
        self.opt.zero_grad()
        with torch.no_grad():
            for p, s in zip(self.full, self.shards):
                whole = torch.empty_like(p)
                dist.all_gather_into_tensor(whole, s.detach())
                p.copy_(whole)
        loss = loss.detach()
        dist.all_reduce(loss)
        return loss / self.world


def sequential():
    return Trainer()


def distributed(rank, world_size):
    return ZeroTrainer(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return torch.randn(6, 5), torch.randint(0, 4, (6,))


relations = {"x": "shard(0)", "y": "shard(0)"}
