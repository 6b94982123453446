import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = 'f copies forward and all-reduces backward, g the other way round: gradients of norm and x are whole'
world_size = 2


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


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.norm = nn.Parameter(torch.rand(6) + 0.5)
        self.up = nn.Parameter(torch.randn(8, 6))
        self.down = nn.Parameter(torch.randn(6, 8))

    def forward(self, x):
        return F.linear(torch.tanh(F.linear(x * self.norm, self.up)), self.down)


class ParallelMlp(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        whole = Mlp()
        self.norm = whole.norm
        self.up = nn.Parameter(whole.up.detach().chunk(world_size, 0)[rank].clone())
        self.down = nn.Parameter(whole.down.detach().chunk(world_size, 1)[rank].clone())

    def forward(self, x):
        h = Copy.apply(x * self.norm)
        return Reduce.apply(F.linear(torch.tanh(F.linear(h, self.up)), self.down))


backward = True


def sequential():
    return Mlp()


def distributed(rank, world_size):
    return ParallelMlp(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 6),)
