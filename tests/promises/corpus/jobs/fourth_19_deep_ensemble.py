"""A deep ensemble with a member on each of eight ranks: mean prediction, its log, and how far members disagree."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "The mean over members is a sum over ranks divided by their number, in the log domain with the maximum over ranks taken out."

world_size = 8


def member():
    return nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))


def entropy(logp):
    return -(logp.exp() * logp).sum(-1)


class Ensemble(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(36)
        self.members = nn.ModuleList(member() for _ in range(8))

    def forward(self, x):
        logps = torch.stack([F.log_softmax(m(x), -1) for m in self.members])
        logp = torch.logsumexp(logps, 0) - torch.tensor(float(len(self.members))).log()
        total = entropy(logp)
        return {"logp": logp, "entropy": total, "disagreement": total - entropy(logps).mean(0)}


class Member(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        size = dist.get_world_size()
        own = F.log_softmax(self.net(x), -1)
        top = own.clone()
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        mass = (own - top).exp()
        inner = entropy(own)
        dist.all_reduce(mass)
        dist.all_reduce(inner)
        logp = top + (mass / size).log()
        total = entropy(logp)
        return {"logp": logp, "entropy": total, "disagreement": total - inner / size}


def sequential():
    return Ensemble()


def distributed(rank, world_size):
    return Member(Ensemble().members[rank])


def inputs():
    torch.manual_seed(37)
    return (torch.randn(4, 5),)
