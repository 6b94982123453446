"""Tensor-parallel training step with gradient clipping. Mistake: the norm's all-reduce counts the replicated weights (norm, row bias) once per rank."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, INNER, MAX_NORM, LR = 8, 12, 0.5, 0.1


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):
        return self.down(F.gelu(self.up(self.norm(x))))


class Step(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def grad_norm(self):
        return torch.stack([p.grad.square().sum() for p in self.model.parameters()]).sum().sqrt()

    def forward(self, x, y):
        loss = (self.model(x) - y).square().mean()
        loss.backward()
        norm = self.grad_norm()
        scale = (MAX_NORM / (norm + 1e-6)).clamp(max=1.0)
        with torch.no_grad():
            for p in self.model.parameters():
                p.sub_(LR * scale * p.grad)
                p.grad = None
        return loss.detach(), norm


class Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class Leave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class ParallelMLP(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.norm = full.norm
        self.up_weight = nn.Parameter(full.up.weight.detach().chunk(world_size, 0)[rank].clone())
        self.up_bias = nn.Parameter(full.up.bias.detach().chunk(world_size, 0)[rank].clone())
        self.down_weight = nn.Parameter(full.down.weight.detach().chunk(world_size, 1)[rank].clone())
        self.down_bias = nn.Parameter(full.down.bias.detach().clone())

    def forward(self, x):
        h = F.gelu(F.linear(Enter.apply(self.norm(x)), self.up_weight, self.up_bias))
        return Leave.apply(F.linear(h, self.down_weight)) + self.down_bias


class ParallelStep(Step):
    def grad_norm(self):
        total = torch.stack([p.grad.square().sum() for p in self.model.parameters()]).sum()
        dist.all_reduce(total)
        return total.sqrt()


def sequential():
    return Step(MLP())


def distributed(rank, world_size):
    return ParallelStep(ParallelMLP(MLP(), rank, world_size))


def inputs():
    return torch.randn(6, WIDTH), torch.randn(6, WIDTH)


world_size = 2

TRUTH = "broken"
