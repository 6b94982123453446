"""One SGD step with adaptive gradient clipping (NFNets) for a tensor-parallel MLP: the gradient of each output unit is clipped to a
fraction of the norm of that unit's weights. Vectors are not clipped."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HIDDEN, LR, CLIP, EPS = 6, 8, 0.1, 0.02, 1e-3


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def unitwise_norm(t):
    return t.norm(dim=1, keepdim=True)


@torch.no_grad()
def agc_sgd(params):
    for p in params:
        grad = p.grad
        if grad.dim() > 1:
            limit = unitwise_norm(p).clamp(min=EPS) * CLIP
            norm = unitwise_norm(grad)
            grad = torch.where(norm > limit, grad * (limit / norm.clamp(min=1e-6)), grad)
        p.sub_(LR * grad)
        p.grad = None


class MLP(nn.Module):
    def __init__(self, hidden=HIDDEN):
        super().__init__()
        self.stem = nn.Linear(DIM, DIM)
        self.up = nn.Linear(DIM, hidden)
        self.down = nn.Linear(hidden, DIM, bias=False)
        self.bias = nn.Parameter(torch.zeros(DIM))

    def predict(self, x):
        return self.down(F.gelu(self.up(torch.tanh(self.stem(x))))) + self.bias

    def forward(self, x, y):
        loss = (self.predict(x) - y).square().mean()
        loss.backward()
        agc_sgd(self.parameters())
        return loss.detach()


class ParallelMLP(MLP):
    def __init__(self, full, rank, world_size):
        super().__init__(HIDDEN // world_size)
        self.stem.load_state_dict(full.stem.state_dict())
        with torch.no_grad():
            self.bias.copy_(full.bias)
            self.up.weight.copy_(full.up.weight.chunk(world_size, 0)[rank])
            self.up.bias.copy_(full.up.bias.chunk(world_size, 0)[rank])
            self.down.weight.copy_(full.down.weight.chunk(world_size, 1)[rank])

    def predict(self, x):
        h = Copy.apply(torch.tanh(self.stem(x)))
        return Reduce.apply(self.down(F.gelu(self.up(h)))) + self.bias


def sequential():
    return MLP()


def distributed(rank, world_size):
    return ParallelMLP(MLP(), rank, world_size)


def inputs():
    return torch.randn(5, DIM), torch.randn(5, DIM)


world_size = 2

TRUTH = "differs"
# WHY: a unit of `down` has its inputs spread over the ranks; norms of its weights and of its gradient are taken over the rank's
# columns only. Both squares have to be summed over ranks (for `up`, cut by units, the local norms are right).
