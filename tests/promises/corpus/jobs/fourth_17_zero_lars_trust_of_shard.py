"""A LARS step whose weights are updated in shards: gradients averaged, own rows updated, rows gathered."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "differs"
WHY = "The trust ratio is that of the whole layer's norms, but each rank takes the norms of its own rows."

world_size = 2
relations = {"x": "shard(0)", "labels": "shard(0)"}

LR, TRUST, DECAY = 0.5, 0.02, 0.01


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(33)
        self.first, self.second = nn.Linear(6, 8, bias=False), nn.Linear(8, 4, bias=False)

    def loss(self, x, labels):
        return F.cross_entropy(self.second(torch.tanh(self.first(x))), labels)


def lars(weight, grad):
    grad = grad + DECAY * weight
    ratio = TRUST * weight.norm() / (grad.norm() + 1e-8)
    return weight - LR * ratio * grad


class Step(Net):
    def forward(self, x, labels):
        loss = self.loss(x, labels)
        weights = list(self.parameters())
        grads = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, grad in zip(weights, grads):
                weight.copy_(lars(weight, grad))
        return loss.detach()


class ShardedStep(Net):
    def forward(self, x, labels):
        rank, size = dist.get_rank(), dist.get_world_size()
        loss = self.loss(x, labels)
        weights = list(self.parameters())
        grads = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, grad in zip(weights, grads):
                own = torch.empty_like(grad.chunk(size)[rank])
                dist.reduce_scatter_tensor(own, grad.contiguous())
                new = lars(weight.chunk(size)[rank], own / size)
                whole = torch.empty_like(weight)
                dist.all_gather_into_tensor(whole, new)
                weight.copy_(whole)
            loss = loss.detach().clone()
            dist.all_reduce(loss)
        return loss / size


def sequential():
    return Step()


def distributed(rank, world_size):
    return ShardedStep()


def inputs():
    torch.manual_seed(34)
    return torch.randn(6, 6), torch.randint(0, 4, (6,))
