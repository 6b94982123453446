"""DiLoCo: three workers take two local SGD steps each, the mean of their movements is the outer gradient of a Nesterov
momentum step. Two rounds. Sequentially the workers are a loop."""
import torch
import torch.distributed as dist
from torch import nn

world_size = 3
INNER, OUTER, MU = 0.1, 0.7, 0.9
relations = {"data": "shard(0)", "target": "shard(0)"}       # [worker, round, step, sample, feature]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.w1 = nn.Parameter(torch.randn(4, 5) / 2)
        self.b1 = nn.Parameter(torch.randn(5))
        self.w2 = nn.Parameter(torch.randn(5, 2) / 2)

    def weights(self):
        return [self.w1, self.b1, self.w2]


def inner(weights, data, target):
    for x, y in zip(data, target):
        ws = [w.detach().clone().requires_grad_() for w in weights]
        loss = (torch.tanh(x @ ws[0] + ws[1]) @ ws[2] - y).square().mean()
        weights = [w.detach() - INNER * g for w, g in zip(ws, torch.autograd.grad(loss, ws))]
    return weights


def outer(model, velocity, movements):
    with torch.no_grad():
        for w, v, g in zip(model.weights(), velocity, movements):
            v.mul_(MU).add_(g)
            w.sub_(OUTER * (g + MU * v))


class Loop(Model):
    def forward(self, data, target):
        velocity = [torch.zeros_like(w) for w in self.weights()]
        for r in range(data.shape[1]):
            ends = [inner(self.weights(), data[k, r], target[k, r]) for k in range(data.shape[0])]
            outer(self, velocity, [w.detach() - torch.stack(e).mean(0) for w, e in zip(self.weights(), zip(*ends))])
        return velocity


class Worker(Model):
    def forward(self, data, target):
        velocity = [torch.zeros_like(w) for w in self.weights()]
        for r in range(data.shape[1]):
            end = inner(self.weights(), data[0, r], target[0, r])
            moved = [w.detach() - e for w, e in zip(self.weights(), end)]
            flat = torch.cat([m.flatten() for m in moved]) / dist.get_world_size()
            dist.all_reduce(flat)
            pieces = flat.split([m.numel() for m in moved])
            outer(self, velocity, [p.view_as(m) for p, m in zip(pieces, moved)])
        return velocity


def sequential():
    return Loop()


def distributed(rank, world_size):
    return Worker()


def inputs():
    torch.manual_seed(1)
    return {"data": torch.randn(3, 2, 2, 3, 4), "target": torch.randn(3, 2, 2, 3, 2)}


TRUTH = "refines"
