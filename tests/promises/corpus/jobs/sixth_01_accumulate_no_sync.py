"""Gradient accumulation: 3 micro-batches, only the last backward of DDP synchronises."""
import contextlib
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

world_size = 2
relations = {"x": "shard(1)", "y": "shard(1)"}        # [micro-batch, sample, …]
MICRO = 3


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a = nn.Linear(5, 8)
        self.b = nn.Linear(8, 4)

    def forward(self, x):
        return self.b(F.elu(self.a(x)))


class Step(nn.Module):
    def __init__(self, distributed=False):
        super().__init__()
        self.model = Classifier()
        self.ddp = (DistributedDataParallel(self.model),) if distributed else None
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.2, momentum=0.9, nesterov=True)

    def forward(self, x, y):
        call = self.ddp[0] if self.ddp else self.model
        self.optimizer.zero_grad()
        for i in range(MICRO):
            quiet = self.ddp and i < MICRO - 1
            with call.no_sync() if quiet else contextlib.nullcontext():
                loss = F.cross_entropy(call(x[i]), y[i]) / MICRO
                loss.backward()
        self.optimizer.step()
        return torch.stack([w.detach().norm() for w in self.model.parameters()])


def sequential():
    return Step()


def distributed(rank, world_size):
    return Step(distributed=True)


def inputs():
    torch.manual_seed(3)
    return {"x": torch.randn(MICRO, 4, 5), "y": torch.randint(4, (MICRO, 4))}


TRUTH = "refines"
