"""Mean teacher: a student takes an SGD step with momentum on labels and on the teacher's word, the teacher follows by EMA."""

import copy

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "The student's gradients are averaged over ranks before the step, so students and therefore teachers stay those of the whole batch."

world_size = 3
relations = {"x": "shard(0)", "noisy": "shard(0)", "labels": "shard(0)"}

DECAY, WEIGHT = 0.95, 0.7


class MeanTeacher(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(15)
        self.student = nn.Sequential(nn.Linear(5, 8), nn.SiLU(), nn.Linear(8, 4))
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)
        with torch.no_grad():
            for p in self.teacher.parameters():
                p.add_(0.05 * torch.randn_like(p))
        self.sgd = torch.optim.SGD(self.student.parameters(), lr=0.1, momentum=0.9, nesterov=True)

    def reduce(self, loss):
        return loss

    def forward(self, x, noisy, labels):
        logits = self.student(noisy)
        with torch.no_grad():
            aim = self.teacher(x).softmax(-1)
        loss = F.cross_entropy(logits, labels) + WEIGHT * F.mse_loss(logits.softmax(-1), aim)
        self.sgd.zero_grad(set_to_none=True)
        loss.backward()
        shown = self.reduce(loss.detach())
        self.sgd.step()
        with torch.no_grad():
            for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
                slow.lerp_(fast, 1 - DECAY)
        return shown


class Replica(MeanTeacher):
    def __init__(self):
        super().__init__()
        for p in self.parameters():
            dist.broadcast(p.data, src=0)

    def reduce(self, loss):
        pending = [dist.all_reduce(p.grad, async_op=True) for p in self.student.parameters()]
        dist.all_reduce(loss)
        for work in pending:
            work.wait()
        for p in self.student.parameters():
            p.grad /= dist.get_world_size()
        return loss / dist.get_world_size()


def sequential():
    return MeanTeacher()


def distributed(rank, world_size):
    return Replica()


def inputs():
    torch.manual_seed(16)
    x = torch.randn(9, 5)
    return x, x + 0.1 * torch.randn(9, 5), torch.randint(0, 4, (9,))
