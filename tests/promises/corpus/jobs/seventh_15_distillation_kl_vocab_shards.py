# Knowledge distillation with the vocabulary of both heads cut over tensor-parallel ranks: T^2 KL(teacher || student).
# Neither softmax is ever gathered.
import torch
import torch.distributed as dist
from torch import nn

VOCAB, HIDDEN, T = 12, 6, 2.0


class _Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.contiguous().clone()
        dist.all_reduce(g)
        return g


class _Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class Distill(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher = nn.Linear(HIDDEN, VOCAB, bias=False).requires_grad_(False)
        self.student = nn.Linear(HIDDEN, VOCAB, bias=False)

    def forward(self, hidden_teacher, hidden_student):
        p = torch.log_softmax(self.teacher(hidden_teacher) / T, -1)
        q = torch.log_softmax(self.student(hidden_student) / T, -1)
        return (p.exp() * (p - q)).sum(-1).mean() * T * T


class DistillVocabParallel(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.teacher = nn.Parameter(full.teacher.weight.data.chunk(world_size)[rank].clone(), requires_grad=False)
        self.student = nn.Parameter(full.student.weight.data.chunk(world_size)[rank].clone())

    @staticmethod
    def log_softmax(z):
        peak = z.detach().amax(-1, keepdim=True)
        dist.all_reduce(peak, op=dist.ReduceOp.MAX)
        z = z - peak
        # the denominator is used by each rank's columns: its gradient adds up over the ranks
        return z - _Copy.apply(_Reduce.apply(z.exp().sum(-1, keepdim=True))).log()

    def forward(self, hidden_teacher, hidden_student):
        p = self.log_softmax(_Copy.apply(hidden_teacher) @ self.teacher.t() / T)
        q = self.log_softmax(_Copy.apply(hidden_student) @ self.student.t() / T)
        return _Reduce.apply((p.exp() * (p - q)).sum(-1)).mean() * T * T


def sequential():
    return Distill()


def distributed(rank, world_size):
    return DistillVocabParallel(Distill(), rank, world_size)


def inputs():
    return torch.randn(3, HIDDEN), torch.randn(3, HIDDEN)


world_size = 3
backward = True
TRUTH = "refines"
