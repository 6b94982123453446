"""One optimizer step: gradient accumulation in micro batches, a flat all-reduce, clipping by the global norm, AdamW."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

TRUTH = "refines"
WHY = "Equal micro batches on equal shards average to the gradient of the whole batch's mean, which is clipped and stepped alike on each rank."

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}

ACCUMULATE, MAX_NORM = 2, 0.1


def make():
    torch.manual_seed(13)
    return nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 3))


class Step(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.05, foreach=False)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), MAX_NORM)
        self.optimizer.step()
        return {"loss": loss.detach(), "norm": norm}


class ParallelStep(Step):
    def forward(self, x, y):
        self.optimizer.zero_grad()
        total = torch.zeros(())
        for a, b in zip(x.chunk(ACCUMULATE), y.chunk(ACCUMULATE)):
            loss = F.mse_loss(self.net(a), b) / ACCUMULATE
            loss.backward()
            total = total + loss.detach()
        grads = [p.grad for p in self.net.parameters()]
        flat = _flatten_dense_tensors(grads)
        flat.div_(dist.get_world_size())
        work = dist.all_reduce(flat, async_op=True)
        dist.all_reduce(total)
        work.wait()
        for grad, reduced in zip(grads, _unflatten_dense_tensors(flat, grads)):
            grad.copy_(reduced)
        norm = torch.sqrt(sum(g.square().sum() for g in grads))
        scale = torch.clamp(MAX_NORM / (norm + 1e-6), max=1.0)
        for grad in grads:
            grad.mul_(scale)
        self.optimizer.step()
        return {"loss": total / dist.get_world_size(), "norm": norm}


def sequential():
    return Step(make())


def distributed(rank, world_size):
    return ParallelStep(make())


def inputs():
    torch.manual_seed(14)
    return torch.randn(8, 6), torch.randn(8, 3)
