import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.nn.functional import all_gather

TRUTH = "refines"
WHY = 'contrastive training step with features gathered through autograd: local rows against all, gradients averaged, SGD on weights and temperature'
world_size = 2


class Encoder(nn.Module):
    def __init__(self, din):
        super().__init__()
        self.fc1 = nn.Linear(din, 8)
        self.fc2 = nn.Linear(8, 4)

    def forward(self, x):
        return F.normalize(self.fc2(torch.tanh(self.fc1(x))), dim=-1)


class Contrastive(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.left, self.right = Encoder(5), Encoder(3)
        self.log_temperature = nn.Parameter(torch.tensor(-0.7))

    def rows(self, a, b):
        return a, b, 0

    def average(self, t):
        return t

    def forward(self, x, y):
        a, b = self.left(x), self.right(y)
        all_a, all_b, first = self.rows(a, b)
        scale = torch.exp(-self.log_temperature)
        target = first + torch.arange(a.shape[0])
        loss = (F.cross_entropy(scale * a @ all_b.T, target) + F.cross_entropy(scale * b @ all_a.T, target)) / 2
        params = list(self.parameters())
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            for p, g in zip(params, grads):
                p.sub_(self.average(g), alpha=0.1)
        return self.average(loss.detach())


class DistributedContrastive(Contrastive):
    def rows(self, a, b):
        return torch.cat(all_gather(a)), torch.cat(all_gather(b)), dist.get_rank() * a.shape[0]

    def average(self, t):
        t = t.clone()
        dist.all_reduce(t)
        return t / dist.get_world_size()


def sequential():
    return Contrastive()


def distributed(rank, world_size):
    return DistributedContrastive()


def inputs():
    torch.manual_seed(1)
    return torch.randn(4, 5), torch.randn(4, 3)


relations = {"x": "shard(0)", "y": "shard(0)"}
