"""A decoder block with grouped-query attention, RoPE and SwiGLU, under Megatron-style tensor parallelism, with gradients."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, KV_HEADS, HEAD_DIM, FFN = 16, 4, 2, 4, 24


def rope_tables(length, head_dim, like, base=10000.0):
    inv = base ** (-torch.arange(0, head_dim, 2, dtype=like.dtype) / head_dim)
    angles = torch.outer(torch.arange(length, dtype=like.dtype), inv)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def attend(q, k, v, heads, kv_heads):
    b, t, _ = q.shape
    q = q.view(b, t, heads, HEAD_DIM).transpose(1, 2)
    k = k.view(b, t, kv_heads, HEAD_DIM).transpose(1, 2)
    v = v.view(b, t, kv_heads, HEAD_DIM).transpose(1, 2)
    cos, sin = rope_tables(t, HEAD_DIM, q)
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    k = k.repeat_interleave(heads // kv_heads, dim=1)
    v = v.repeat_interleave(heads // kv_heads, dim=1)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.transpose(1, 2).reshape(b, t, heads * HEAD_DIM)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn_norm, self.ffn_norm = RMSNorm(DIM), RMSNorm(DIM)
        self.wq = nn.Linear(DIM, HEADS * HEAD_DIM, bias=False)
        self.wk = nn.Linear(DIM, KV_HEADS * HEAD_DIM, bias=False)
        self.wv = nn.Linear(DIM, KV_HEADS * HEAD_DIM, bias=False)
        self.wo = nn.Linear(HEADS * HEAD_DIM, DIM, bias=False)
        self.w1 = nn.Linear(DIM, FFN, bias=False)
        self.w3 = nn.Linear(DIM, FFN, bias=False)
        self.w2 = nn.Linear(FFN, DIM, bias=False)

    def forward(self, x):
        h = self.attn_norm(x)
        x = x + self.wo(attend(self.wq(h), self.wk(h), self.wv(h), HEADS, KV_HEADS))
        h = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class CopyToModelParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class ReduceFromModelParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous().clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class ColumnParallelLinear(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.weight = nn.Parameter(full.weight.detach().chunk(world_size, dim=0)[rank].clone())

    def forward(self, x):
        return F.linear(x, self.weight)


class RowParallelLinear(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.weight = nn.Parameter(full.weight.detach().chunk(world_size, dim=1)[rank].clone())

    def forward(self, x):
        return ReduceFromModelParallel.apply(F.linear(x, self.weight))


class ParallelBlock(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.heads, self.kv_heads = HEADS // world_size, KV_HEADS // world_size
        self.attn_norm, self.ffn_norm = full.attn_norm, full.ffn_norm
        for name in ("wq", "wk", "wv", "w1", "w3"):
            setattr(self, name, ColumnParallelLinear(getattr(full, name), rank, world_size))
        for name in ("wo", "w2"):
            setattr(self, name, RowParallelLinear(getattr(full, name), rank, world_size))

    def forward(self, x):
        h = CopyToModelParallel.apply(self.attn_norm(x))
        x = x + self.wo(attend(self.wq(h), self.wk(h), self.wv(h), self.heads, self.kv_heads))
        h = CopyToModelParallel.apply(self.ffn_norm(x))
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


def sequential():
    return Block()


def distributed(rank, world_size):
    return ParallelBlock(Block(), rank, world_size)


def inputs():
    return (torch.randn(2, 5, DIM),)


world_size = 2
backward = True


TRUTH = "refines"
