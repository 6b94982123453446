import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

# Multi-task model, this step trains task "b" only, so head a gets no gradient: find_unused_parameters=True.
# Teacher is an exponential moving average of the student, updated after the step on every rank.
world_size = 3
relations = {"x": "shard(0)", "y": "shard(0)"}


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 6)
        self.heads = nn.ModuleDict({"a": nn.Linear(6, 2), "b": nn.Linear(6, 3)})

    def forward(self, x, task):
        return self.heads[task](torch.tanh(self.trunk(x)))


class Trainer(nn.Module):
    decay = 0.95

    def __init__(self, parallel):
        super().__init__()
        torch.manual_seed(0)
        self.student = MultiTask()
        self.teacher = MultiTask()
        self.teacher.requires_grad_(False)
        self.run = [DDP(self.student, find_unused_parameters=True) if parallel else self.student]
        self.opt = torch.optim.SGD(self.student.parameters(), lr=0.05)

    def forward(self, x, y):
        self.opt.zero_grad(set_to_none=True)
        out = self.run[0](x, "b")
        loss = nn.functional.mse_loss(out, y)
        loss.backward()
        self.opt.step()
        with torch.no_grad():
            for t, s in zip(self.teacher.parameters(), self.student.parameters()):
                t.lerp_(s, 1 - self.decay)
            return self.teacher.trunk.weight.sum()


sequential = lambda: Trainer(parallel=False)


def distributed(rank, world_size):
    return Trainer(parallel=True)


def inputs():
    torch.manual_seed(0)
    return torch.randn(6, 4), torch.randn(6, 3)


TRUTH = "refines"
