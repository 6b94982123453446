"""A GPT-J block (attention and MLP in parallel behind one norm) under tensor parallelism: one all-reduce for both."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Heads and hidden units are cut by rank, both partial results share one all-reduce, and the input's gradient is summed by its conjugate."

world_size = 4
backward = True

D, HEADS, ROT = 16, 4, 2
HEAD = D // HEADS


def rotate(x, pos):
    inv = 1.0 / (10000 ** (torch.arange(0, ROT, 2, device=x.device) / ROT))
    angle = pos[:, None] * inv[None, :]
    sin = angle.sin().repeat_interleave(2, dim=-1)[None, :, None, :]
    cos = angle.cos().repeat_interleave(2, dim=-1)[None, :, None, :]
    rot, rest = x[..., :ROT], x[..., ROT:]
    turned = torch.stack((-rot[..., 1::2], rot[..., ::2]), dim=-1).flatten(-2)
    return torch.cat([rot * cos + turned * sin, rest], dim=-1)


def attend(q, k, v):
    T = q.shape[1]
    pos = torch.arange(T, device=q.device)
    q, k = rotate(q, pos).transpose(1, 2), rotate(k, pos).transpose(1, 2)
    scores = q @ k.transpose(-1, -2) / math.sqrt(HEAD)
    scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf"))
    return (scores.softmax(-1) @ v.transpose(1, 2)).transpose(1, 2).flatten(2)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(D)
        self.q, self.k, self.v = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.out = nn.Linear(D, D, bias=False)
        self.fc_in, self.fc_out = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x, target):
        h = self.ln(x)
        q, k, v = (p(h).unflatten(-1, (HEADS, HEAD)) for p in (self.q, self.k, self.v))
        y = x + self.out(attend(q, k, v)) + self.fc_out(F.gelu(self.fc_in(h), approximate="tanh"))
        return F.mse_loss(y, target)


class CopyTo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class ReduceFrom(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class ParallelBlock(nn.Module):
    def __init__(self, full, rank, size):
        super().__init__()
        self.heads = HEADS // size
        self.ln = full.ln

        def cut(t, dim):
            return nn.Parameter(t.detach().chunk(size, dim)[rank].clone())

        self.q, self.k, self.v = cut(full.q.weight, 0), cut(full.k.weight, 0), cut(full.v.weight, 0)
        self.out = cut(full.out.weight, 1)
        self.up, self.up_bias = cut(full.fc_in.weight, 0), cut(full.fc_in.bias, 0)
        self.down = cut(full.fc_out.weight, 1)
        self.down_bias = nn.Parameter(full.fc_out.bias.detach().clone())

    def forward(self, x, target):
        h = CopyTo.apply(self.ln(x))
        q, k, v = (F.linear(h, w).unflatten(-1, (self.heads, HEAD)) for w in (self.q, self.k, self.v))
        part = F.linear(attend(q, k, v), self.out)
        part = part + F.linear(F.gelu(F.linear(h, self.up, self.up_bias), approximate="tanh"), self.down)
        y = x + ReduceFrom.apply(part) + self.down_bias
        return F.mse_loss(y, target)


def sequential():
    torch.manual_seed(0)
    return Block()


def distributed(rank, world_size):
    return ParallelBlock(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(1)
    return torch.randn(2, 5, D), torch.randn(2, 5, D)
