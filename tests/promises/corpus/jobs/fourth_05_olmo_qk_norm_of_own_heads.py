"""Attention whose q and k are normalised over all heads together (as OLMo 2 does), heads over ranks."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "differs"
WHY = "The root mean square of q and k goes over the whole width, but every rank takes it over its own heads only."

world_size = 2

D, HEADS = 16, 4
HEAD = D // HEADS


class RMSNorm(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


def attention(q, k, v):
    q, k, v = (t.unflatten(-1, (-1, HEAD)).transpose(1, 2) for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False) for _ in range(4))
        self.q_norm, self.k_norm = RMSNorm(1 + 0.1 * torch.randn(D)), RMSNorm(1 + 0.1 * torch.randn(D))

    def forward(self, x):
        return self.o(attention(self.q_norm(self.q(x)), self.k_norm(self.k(x)), self.v(x)))


class ParallelAttention(nn.Module):
    def __init__(self, full, rank, size):
        super().__init__()

        def cut(t, dim=0):
            return t.detach().chunk(size, dim)[rank].clone()

        self.q, self.k, self.v = (nn.Parameter(cut(m.weight)) for m in (full.q, full.k, full.v))
        self.o = nn.Parameter(cut(full.o.weight, 1))
        self.q_norm, self.k_norm = RMSNorm(cut(full.q_norm.weight)), RMSNorm(cut(full.k_norm.weight))

    def forward(self, x):
        q, k, v = (F.linear(x, w) for w in (self.q, self.k, self.v))
        out = F.linear(attention(self.q_norm(q), self.k_norm(k), v), self.o)
        dist.all_reduce(out)
        return out


def sequential():
    torch.manual_seed(9)
    return Attention()


def distributed(rank, world_size):
    return ParallelAttention(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(10)
    return (torch.randn(2, 5, D),)
