"""A tensor-parallel attention block with a norm on queries and keys per head (Qwen3, Gemma 3): the norms' weights have the size
of one head and are used by all heads. Forward and backward."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, HEAD = 12, 4, 4


class Enter(torch.autograd.Function):
    """in front of a column-parallel layer"""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad)
        return grad


class Leave(torch.autograd.Function):
    """behind a row-parallel layer"""

    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = HEADS
        self.input_norm = nn.RMSNorm(DIM)
        self.q_proj = nn.Linear(DIM, HEADS * HEAD, bias=False)
        self.k_proj = nn.Linear(DIM, HEADS * HEAD, bias=False)
        self.v_proj = nn.Linear(DIM, HEADS * HEAD, bias=False)
        self.o_proj = nn.Linear(HEADS * HEAD, DIM, bias=False)
        self.q_norm = nn.RMSNorm(HEAD)
        self.k_norm = nn.RMSNorm(HEAD)

    def attention(self, h):
        shape = (*h.shape[:2], self.heads, HEAD)
        q = self.q_norm(self.q_proj(h).view(shape)).transpose(1, 2)
        k = self.k_norm(self.k_proj(h).view(shape)).transpose(1, 2)
        v = self.v_proj(h).view(shape).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).flatten(2))

    def forward(self, x):
        return x + self.attention(self.input_norm(x))


class ParallelBlock(Block):
    def __init__(self, rank, world_size):
        super().__init__()
        self.heads = HEADS // world_size
        with torch.no_grad():
            for proj in (self.q_proj, self.k_proj, self.v_proj):
                proj.weight = nn.Parameter(proj.weight.chunk(world_size, 0)[rank].clone())
            self.o_proj.weight = nn.Parameter(self.o_proj.weight.chunk(world_size, 1)[rank].clone())

    def forward(self, x):
        h = Enter.apply(self.input_norm(x))
        return x + Leave.apply(self.attention(h))


def sequential():
    return Block()


def distributed(rank, world_size):
    return ParallelBlock(rank, world_size)


def inputs():
    return torch.randn(2, 4, DIM)


world_size = 2
backward = True

TRUTH = "differs"
# WHY: q_norm and k_norm are used by the rank's own heads only, so each rank has a part of the gradients of their weights; nobody
# adds these up (the weights would have to go through Enter, or their gradients through an all_reduce), and the replicas drift apart.
