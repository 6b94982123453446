"""Latent attention (MLA): prefill form in one process, heads over ranks with absorbed up-projections in the other."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Absorbing k's up-projection into q and v's into the result is associativity, and heads are summed by the row-parallel output."

world_size = 2

D, HEADS, NOPE, ROPE, V, QRANK, KVRANK = 24, 4, 6, 4, 5, 10, 8
SCALE = 1 / math.sqrt(NOPE + ROPE)


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def rope(x):                                                   # B, H, T, ROPE
    T = x.shape[2]
    inv = 1.0 / (10000 ** (torch.arange(0, ROPE, 2) / ROPE))
    angle = torch.arange(T)[:, None] * inv
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def causal(scores):
    T = scores.shape[-1]
    return scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), float("-inf")).softmax(-1)


class MLA(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_a, self.q_norm = nn.Linear(D, QRANK, bias=False), Norm(QRANK)
        self.q_b = nn.Linear(QRANK, HEADS * (NOPE + ROPE), bias=False)
        self.kv_a, self.kv_norm = nn.Linear(D, KVRANK + ROPE, bias=False), Norm(KVRANK)
        self.kv_b = nn.Linear(KVRANK, HEADS * (NOPE + V), bias=False)
        self.o = nn.Linear(HEADS * V, D, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_b(self.q_norm(self.q_a(x))).view(B, T, HEADS, NOPE + ROPE).transpose(1, 2)
        q_nope, q_rope = q.split([NOPE, ROPE], -1)
        latent, k_rope = self.kv_a(x).split([KVRANK, ROPE], -1)
        kv = self.kv_b(self.kv_norm(latent)).view(B, T, HEADS, NOPE + V).transpose(1, 2)
        k_nope, v = kv.split([NOPE, V], -1)
        q = torch.cat([q_nope, rope(q_rope)], -1)
        k = torch.cat([k_nope, rope(k_rope[:, None]).expand(B, HEADS, T, ROPE)], -1)
        y = causal(q @ k.transpose(-1, -2) * SCALE) @ v
        return self.o(y.transpose(1, 2).reshape(B, T, HEADS * V))


class AbsorbedMLA(nn.Module):
    """What a serving engine does: keys and values stay latent, every rank has its own heads."""

    def __init__(self, full, rank, size):
        super().__init__()
        self.heads = HEADS // size
        self.q_a, self.q_norm, self.kv_a, self.kv_norm = full.q_a, full.q_norm, full.kv_a, full.kv_norm
        own = slice(rank * self.heads, (rank + 1) * self.heads)
        with torch.no_grad():
            self.q_b = nn.Parameter(full.q_b.weight.view(HEADS, NOPE + ROPE, QRANK)[own].flatten(0, 1).clone())
            self.kv_b = nn.Parameter(full.kv_b.weight.view(HEADS, NOPE + V, KVRANK)[own].flatten(0, 1).clone())
            self.o = nn.Parameter(full.o.weight.view(D, HEADS, V)[:, own].flatten(1).clone())

    def forward(self, x):
        B, T, _ = x.shape
        w_uk, w_uv = self.kv_b.view(self.heads, NOPE + V, KVRANK).split([NOPE, V], dim=1)
        q = F.linear(self.q_norm(self.q_a(x)), self.q_b).view(B, T, self.heads, NOPE + ROPE).transpose(1, 2)
        q_nope, q_rope = q.split([NOPE, ROPE], -1)
        latent, k_rope = self.kv_a(x).split([KVRANK, ROPE], -1)
        latent, k_rope = self.kv_norm(latent), rope(k_rope[:, None])
        q_latent = torch.einsum("bhtn,hnc->bhtc", q_nope, w_uk)
        scores = torch.einsum("bhtc,bsc->bhts", q_latent, latent) + rope(q_rope) @ k_rope.transpose(-1, -2)
        mixed = torch.einsum("bhts,bsc->bhtc", causal(scores * SCALE), latent)
        y = torch.einsum("bhtc,hvc->bthv", mixed, w_uv).flatten(2)
        out = F.linear(y, self.o)
        dist.all_reduce(out)
        return out


def sequential():
    torch.manual_seed(3)
    return MLA()


def distributed(rank, world_size):
    return AbsorbedMLA(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(4)
    return (torch.randn(2, 5, D),)
