"""One step of ZeRO: gradients are put into one padded buffer, reduce-scattered, AdamW runs on each rank's piece, and the weights are gathered again."""
import math

import torch
import torch.distributed as dist
from torch import nn

LR, BETA1, BETA2, EPS, DECAY = 1e-2, 0.9, 0.999, 1e-8, 0.1
world_size = 4
relations = {"x": "shard(0)", "y": "shard(0)"}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(5, 7), nn.Linear(7, 2)

    def forward(self, x, y):
        return (self.out(torch.tanh(self.hidden(x))) - y).square().mean()


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model()
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=LR, betas=(BETA1, BETA2), eps=EPS, weight_decay=DECAY
        )

    def forward(self, x, y):
        loss = self.model(x, y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


class ShardedAdamW:
    """AdamW whose moments are cut over the ranks."""

    def __init__(self, parameters, rank, world_size):
        self.parameters, self.rank, self.world_size = list(parameters), rank, world_size
        self.numel = sum(p.numel() for p in self.parameters)
        self.piece = math.ceil(self.numel / world_size)
        self.first, self.second, self.steps = torch.zeros(self.piece), torch.zeros(self.piece), 0

    def flatten(self, tensors):
        flat = torch.cat([t.reshape(-1) for t in tensors])
        return torch.nn.functional.pad(flat, (0, self.piece * self.world_size - self.numel))

    @torch.no_grad()
    def step(self):
        gradient = torch.empty(self.piece)
        dist.reduce_scatter_tensor(gradient, self.flatten(p.grad for p in self.parameters))
        gradient /= self.world_size

        self.steps += 1
        weights = self.flatten(self.parameters).view(self.world_size, self.piece)[self.rank].clone()
        weights.mul_(1 - LR * DECAY)
        self.first.lerp_(gradient, 1 - BETA1)
        self.second.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        step_size = LR / (1 - BETA1**self.steps)
        denominator = (self.second.sqrt() / math.sqrt(1 - BETA2**self.steps)).add_(EPS)
        weights.addcdiv_(self.first, denominator, value=-step_size)

        gathered = torch.empty(self.piece * self.world_size)
        dist.all_gather_into_tensor(gathered, weights)
        pieces = gathered[: self.numel].split([p.numel() for p in self.parameters])
        for parameter, new in zip(self.parameters, pieces, strict=True):
            parameter.copy_(new.view_as(parameter))

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None


class ZeroStep(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.model, self.world_size = Model(), world_size
        self.optimizer = ShardedAdamW(self.model.parameters(), rank, world_size)

    def forward(self, x, y):
        loss = self.model(x, y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        mean = loss.detach() / self.world_size
        dist.all_reduce(mean)
        return mean


def sequential():
    return Step()


def distributed(rank, world_size):
    return ZeroStep(rank, world_size)


def inputs():
    return torch.randn(8, 5), torch.randn(8, 2)

TRUTH = "refines"
