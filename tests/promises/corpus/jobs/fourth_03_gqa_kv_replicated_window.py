"""Grouped-query attention with fewer kv heads than ranks: each kv head lies on several ranks. Norms of q and k, a window."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "refines"
WHY = "Rank r holds query heads 2r and 2r+1 and kv head r // 2, which is the one they attend to; the output is row parallel."

world_size = 4

D, HEADS, KV, HEAD, WINDOW = 32, 8, 2, 4, 3


def rms(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def rope(x):
    T = x.shape[1]
    inv = 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD)
    angle = torch.outer(torch.arange(T), inv)
    cos, sin = torch.cat([angle, angle], -1).cos()[:, None], torch.cat([angle, angle], -1).sin()[:, None]
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def attention(q, k, v):
    T = q.shape[1]
    k = k.repeat_interleave(q.shape[2] // k.shape[2], dim=2)
    v = v.repeat_interleave(q.shape[2] // v.shape[2], dim=2)
    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]
    seen = (j <= i) & (i - j < WINDOW)
    y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=seen)
    return y.transpose(1, 2).flatten(2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D, HEADS * HEAD, bias=False)
        self.k_proj = nn.Linear(D, KV * HEAD, bias=False)
        self.v_proj = nn.Linear(D, KV * HEAD, bias=False)
        self.o_proj = nn.Linear(HEADS * HEAD, D, bias=False)
        self.q_norm = nn.Parameter(1 + 0.2 * torch.randn(HEAD))
        self.k_norm = nn.Parameter(1 + 0.2 * torch.randn(HEAD))

    def forward(self, x):
        q = rope(rms(self.q_proj(x).unflatten(-1, (HEADS, HEAD)), self.q_norm))
        k = rope(rms(self.k_proj(x).unflatten(-1, (KV, HEAD)), self.k_norm))
        return self.o_proj(attention(q, k, self.v_proj(x).unflatten(-1, (KV, HEAD))))


class QKVParallel(nn.Module):
    def __init__(self, full, rank, size):
        super().__init__()
        self.heads = HEADS // size
        self.kv_heads = max(1, KV // size)
        replicas = max(1, size // KV)
        shard = rank // replicas
        q = full.q_proj.weight.narrow(0, rank * self.heads * HEAD, self.heads * HEAD)
        k = full.k_proj.weight.narrow(0, shard * self.kv_heads * HEAD, self.kv_heads * HEAD)
        v = full.v_proj.weight.narrow(0, shard * self.kv_heads * HEAD, self.kv_heads * HEAD)
        self.qkv = nn.Parameter(torch.cat([q, k, v]).detach())
        self.o = nn.Parameter(full.o_proj.weight.detach().chunk(size, 1)[rank].clone())
        self.q_norm, self.k_norm = full.q_norm, full.k_norm

    def forward(self, x):
        sizes = [self.heads * HEAD, self.kv_heads * HEAD, self.kv_heads * HEAD]
        q, k, v = F.linear(x, self.qkv).split(sizes, dim=-1)
        q = rope(rms(q.unflatten(-1, (self.heads, HEAD)), self.q_norm))
        k = rope(rms(k.unflatten(-1, (self.kv_heads, HEAD)), self.k_norm))
        out = F.linear(attention(q, k, v.unflatten(-1, (self.kv_heads, HEAD))), self.o)
        dist.all_reduce(out)
        return out


def sequential():
    torch.manual_seed(5)
    return Attention()


def distributed(rank, world_size):
    return QKVParallel(sequential(), rank, world_size)


def inputs():
    torch.manual_seed(6)
    return (torch.randn(2, 6, D),)
