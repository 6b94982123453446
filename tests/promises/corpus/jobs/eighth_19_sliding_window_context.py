"""Sliding-window attention with learned sinks (gpt-oss), long sequences spread over ranks. A window never reaches further than into
the rank before, so that each rank gets the last keys and values of its left neighbour, and sends back their gradient."""

import math

import torch
import torch.distributed as dist
from torch import nn

DIM, HEADS, HEAD, WINDOW = 8, 2, 4, 3


class FromLeft(torch.autograd.Function):
    """the last `n` positions (dim 2) of the rank before; zeros on the first rank"""

    @staticmethod
    def forward(ctx, t, n):
        rank, world = dist.get_rank(), dist.get_world_size()
        ctx.shape, ctx.n = t.shape, n
        tail = t[:, :, -n:].contiguous()
        received = torch.zeros_like(tail)
        requests = []
        if rank + 1 < world:
            requests.append(dist.isend(tail, rank + 1))
        if rank > 0:
            requests.append(dist.irecv(received, rank - 1))
        for r in requests:
            r.wait()
        return received

    @staticmethod
    def backward(ctx, grad):
        rank, world = dist.get_rank(), dist.get_world_size()
        grad = grad.contiguous()
        back = torch.zeros_like(grad)
        requests = []
        if rank > 0:
            requests.append(dist.isend(grad, rank - 1))
        if rank + 1 < world:
            requests.append(dist.irecv(back, rank + 1))
        for r in requests:
            r.wait()
        out = grad.new_zeros(ctx.shape)
        out[:, :, -ctx.n:] = back
        return out, None


def rotate(x, positions):
    half = x.shape[-1] // 2
    frequencies = 100.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = positions.to(x.dtype).unsqueeze(-1) * frequencies
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


class WindowAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * HEADS * HEAD)
        self.out = nn.Linear(HEADS * HEAD, DIM)
        self.sinks = nn.Parameter(torch.randn(HEADS))

    def attend(self, q, k, v, q_pos, k_pos):
        distance = q_pos.unsqueeze(1) - k_pos.unsqueeze(0)
        allowed = (distance >= 0) & (distance < WINDOW) & (k_pos >= 0)
        scores = q @ k.transpose(-1, -2) / math.sqrt(HEAD)
        scores = scores.masked_fill(~allowed, float("-inf"))
        sinks = self.sinks.view(1, HEADS, 1, 1).expand(q.shape[0], -1, q.shape[2], 1)
        probs = torch.cat([scores, sinks], -1).softmax(-1)[..., :-1]
        return self.out((probs @ v).transpose(1, 2).flatten(2))

    def project(self, x, positions):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, HEAD).permute(2, 0, 3, 1, 4)
        return rotate(q, positions), rotate(k, positions), v

    def forward(self, x):
        positions = torch.arange(x.shape[1])
        q, k, v = self.project(x, positions)
        return self.attend(q, k, v, positions, positions)


def reduce_gradient(param):
    dist.all_reduce(param.grad)


class ContextParallelWindowAttention(WindowAttention):
    def __init__(self, rank):
        super().__init__()
        self.rank = rank
        for p in self.parameters():
            p.register_post_accumulate_grad_hook(reduce_gradient)

    def forward(self, x):
        first = self.rank * x.shape[1]
        positions = torch.arange(first, first + x.shape[1])
        q, k, v = self.project(x, positions)
        before = WINDOW - 1
        k_left, v_left = FromLeft.apply(torch.stack([k, v]).flatten(0, 1), before).chunk(2)
        k_pos = torch.arange(first - before, first + x.shape[1])
        return self.attend(q, torch.cat([k_left, k], 2), torch.cat([v_left, v], 2), positions, k_pos)


def sequential():
    return WindowAttention()


def distributed(rank, world_size):
    return ContextParallelWindowAttention(rank)


def inputs():
    return torch.randn(2, 12, DIM)


world_size = 3
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
backward = True

TRUTH = "refines"
