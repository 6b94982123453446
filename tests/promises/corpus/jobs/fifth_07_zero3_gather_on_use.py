"""ZeRO-3 by hand: each rank keeps a flat shard of every weight, gathers it where it is used and scatters the summed gradient back."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "shards are padded to a multiple of the ranks, gradients are averaged in the reduce-scatter, and momentum is kept for the shard"

world_size = 4
relations = {"x": "shard(0)", "y": "shard(0)"}

SIZES = (5, 6, 3)
LR, MU = 0.1, 0.9


class GatherOnUse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, shard, shape):
        ctx.numel = shape.numel()
        world = dist.get_world_size()
        full = torch.empty(shard.numel() * world)
        dist.all_gather_into_tensor(full, shard.detach())
        return full[: shape.numel()].view(shape)

    @staticmethod
    def backward(ctx, grad):
        world = dist.get_world_size()
        flat = grad.reshape(-1)
        pad = -flat.numel() % world
        flat = F.pad(flat, (0, pad)) / world
        shard = torch.empty(flat.numel() // world)
        dist.reduce_scatter_tensor(shard, flat)
        return shard, None


def mlp(params, x):
    w1, b1, w2, b2 = params
    return F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2)


def initial():
    torch.manual_seed(11)
    a, b = nn.Linear(SIZES[0], SIZES[1]), nn.Linear(SIZES[1], SIZES[2])
    return [p.detach().clone() for p in (a.weight, a.bias, b.weight, b.bias)]


class Train(nn.Module):
    def __init__(self):
        super().__init__()
        self.params = nn.ParameterList(initial())

    def forward(self, x, y):
        params = [p.detach().clone().requires_grad_() for p in self.params]
        momenta = [torch.zeros_like(p) for p in params]
        losses = []
        for _ in range(2):
            loss = F.mse_loss(mlp(params, x), y)
            grads = torch.autograd.grad(loss, params)
            losses.append(loss.detach())
            momenta = [MU * m + g for m, g in zip(momenta, grads)]
            params = [(p - LR * m).detach().requires_grad_() for p, m in zip(params, momenta)]
        return torch.stack(losses), [p.detach() for p in params]


class TrainZero3(nn.Module):
    def __init__(self, rank, world):
        super().__init__()
        full = initial()
        self.shapes = [p.shape for p in full]
        self.shards = nn.ParameterList(
            F.pad(p.flatten(), (0, -p.numel() % world)).chunk(world)[rank].clone() for p in full
        )

    def forward(self, x, y):
        world = dist.get_world_size()
        shards = [p.detach().clone().requires_grad_() for p in self.shards]
        momenta = [torch.zeros_like(p) for p in shards]
        losses = []
        for _ in range(2):
            params = [GatherOnUse.apply(s, shape) for s, shape in zip(shards, self.shapes)]
            loss = F.mse_loss(mlp(params, x), y)
            grads = torch.autograd.grad(loss, shards)
            mean = loss.detach() / world
            dist.all_reduce(mean)
            losses.append(mean)
            for s, m, g in zip(shards, momenta, grads):
                m.mul_(MU).add_(g)
                s.data.sub_(LR * m)
        done = []
        for s, shape in zip(shards, self.shapes):
            full = torch.empty(s.numel() * world)
            dist.all_gather_into_tensor(full, s.detach())
            done.append(full[: shape.numel()].view(shape))
        return torch.stack(losses), done


def sequential():
    return Train()


def distributed(rank, world_size):
    return TrainZero3(rank, world_size)


def inputs():
    torch.manual_seed(12)
    return {"x": torch.randn(8, SIZES[0]), "y": torch.randn(8, SIZES[-1])}
