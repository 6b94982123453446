"""Megatron sequence parallelism, trained by hand. Between blocks the tokens are cut; gather before the column-cut
linear, reduce-scatter after the row-cut one. The norm's weights act on a part of the tokens on each rank, so their
gradients are added up after backward. One SGD step."""
import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F

world_size = 2
relations = {"x": "shard(0)", "y": "shard(0)"}
D, H, LR = 4, 6, 0.05


class GatherTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        n = dist.get_world_size()
        out = x.new_empty(n * x.shape[0], *x.shape[1:])
        dist.all_gather_into_tensor(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, g):
        n = dist.get_world_size()
        out = g.new_empty(g.shape[0] // n, *g.shape[1:])
        dist.reduce_scatter_tensor(out, g.contiguous())
        return out


class ScatterTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        n = dist.get_world_size()
        out = x.new_empty(x.shape[0] // n, *x.shape[1:])
        dist.reduce_scatter_tensor(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, g):
        n = dist.get_world_size()
        out = g.new_empty(n * g.shape[0], *g.shape[1:])
        dist.all_gather_into_tensor(out, g.contiguous())
        return out


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.scale = nn.Parameter(1 + 0.2 * torch.randn(D))
        self.shift = nn.Parameter(0.2 * torch.randn(D))
        self.w_up = nn.Parameter(torch.randn(H, D) / 2)
        self.b_up = nn.Parameter(torch.randn(H) / 2)
        self.w_down = nn.Parameter(torch.randn(D, H) / 2)
        self.b_down = nn.Parameter(torch.randn(D) / 2)

    def body(self, x):
        n = F.layer_norm(x, (D,), self.scale, self.shift)
        return x + F.linear(F.gelu(F.linear(n, self.w_up, self.b_up)), self.w_down) + self.b_down

    def update(self, grads):
        with torch.no_grad():
            for p, g in zip(self.parameters(), grads):
                p -= LR * g

    def forward(self, x, y):
        loss = (self.body(x) - y).square().sum()
        self.update(torch.autograd.grad(loss, list(self.parameters())))
        return loss.detach()


class SequenceParallelBlock(Block):
    def __init__(self, rank, n):
        super().__init__()
        for name, dim in (("w_up", 0), ("b_up", 0), ("w_down", 1)):
            setattr(self, name, nn.Parameter(getattr(self, name).detach().chunk(n, dim)[rank].clone()))

    def body(self, x):
        n = GatherTokens.apply(F.layer_norm(x, (D,), self.scale, self.shift))
        return x + ScatterTokens.apply(F.linear(F.gelu(F.linear(n, self.w_up, self.b_up)), self.w_down)) + self.b_down

    def forward(self, x, y):
        loss = (self.body(x) - y).square().sum()
        names, params = zip(*self.named_parameters())
        grads = torch.autograd.grad(loss, params)
        for name, g in zip(names, grads):
            if name in ("scale", "shift"):
                dist.all_reduce(g)
        self.update(grads)
        loss = loss.detach()
        dist.all_reduce(loss)
        return loss


def sequential():
    return Block()


def distributed(rank, world_size):
    return SequenceParallelBlock(rank, world_size)


def inputs():
    torch.manual_seed(1)
    return {"x": torch.randn(6, D), "y": torch.randn(6, D)}


TRUTH = "differs"
