"""A tensor-parallel training step that clips by the global norm: gradients of replicated weights (norm, bias) are counted once on every rank in the sum of squares."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, INNER, MAX_NORM, LR = 6, 8, 0.5, 0.1
world_size = 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x):
        return x + self.down(F.relu(self.up(self.norm(x))))


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x, y):
        loss = F.mse_loss(self.block(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.block.parameters(), MAX_NORM)
        with torch.no_grad():
            for parameter in self.block.parameters():
                parameter -= LR * parameter.grad
                parameter.grad = None
        return loss.detach(), norm


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


class ParallelBlock(nn.Module):
    def __init__(self, whole, rank, world_size):
        super().__init__()
        self.norm = whole.norm
        self.up_weight = nn.Parameter(whole.up.weight.detach().chunk(world_size, 0)[rank].clone())
        self.up_bias = nn.Parameter(whole.up.bias.detach().chunk(world_size, 0)[rank].clone())
        self.down_weight = nn.Parameter(whole.down.weight.detach().chunk(world_size, 1)[rank].clone())
        self.down_bias = nn.Parameter(whole.down.bias.detach().clone())

    def forward(self, x):
        h = F.relu(F.linear(Copy.apply(self.norm(x)), self.up_weight, self.up_bias))
        return x + Reduce.apply(F.linear(h, self.down_weight)) + self.down_bias


def clip_grad_norm(parameters, max_norm):
    """Like torch.nn.utils.clip_grad_norm_, over the ranks of the tensor-parallel group."""
    gradients = [p.grad for p in parameters]
    total = torch.stack([g.square().sum() for g in gradients]).sum()
    dist.all_reduce(total)
    norm = total.sqrt()
    coefficient = torch.clamp(max_norm / (norm + 1e-6), max=1.0)
    for gradient in gradients:
        gradient.mul_(coefficient)
    return norm


class ParallelStep(nn.Module):
    def __init__(self, rank, world_size):
        super().__init__()
        self.block = ParallelBlock(Block(), rank, world_size)

    def forward(self, x, y):
        loss = F.mse_loss(self.block(x), y)
        loss.backward()
        norm = clip_grad_norm(list(self.block.parameters()), MAX_NORM)
        with torch.no_grad():
            for parameter in self.block.parameters():
                parameter -= LR * parameter.grad
                parameter.grad = None
        return loss.detach(), norm


def sequential():
    return Step()


def distributed(rank, world_size):
    return ParallelStep(rank, world_size)


def inputs():
    return torch.randn(4, WIDTH), torch.randn(4, WIDTH)

TRUTH = "broken"
