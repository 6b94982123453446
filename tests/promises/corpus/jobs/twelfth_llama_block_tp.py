"""A Llama block (RMSNorm, grouped-query attention with RoPE, SwiGLU) under Megatron-style tensor parallelism, forward and backward."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS, KV_HEADS, HEAD_DIM, INTER = 12, 4, 2, 6, 10


class CopyToTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad)
        return grad


class ReduceFromTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous().clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def rope(x):
    length, half = x.shape[-2], x.shape[-1] // 2
    freq = 1.0 / (10000.0 ** (torch.arange(half) / half))
    angle = torch.outer(torch.arange(length).to(freq.dtype), freq)
    cos, sin = torch.cat([angle.cos()] * 2, -1), torch.cat([angle.sin()] * 2, -1)
    rotated = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + rotated * sin


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn_norm, self.mlp_norm = nn.RMSNorm(DIM, eps=1e-5), nn.RMSNorm(DIM, eps=1e-5)
        self.q = nn.Linear(DIM, HEADS * HEAD_DIM, bias=False)
        self.k = nn.Linear(DIM, KV_HEADS * HEAD_DIM, bias=False)
        self.v = nn.Linear(DIM, KV_HEADS * HEAD_DIM, bias=False)
        self.o = nn.Linear(HEADS * HEAD_DIM, DIM, bias=False)
        self.gate = nn.Linear(DIM, INTER, bias=False)
        self.up = nn.Linear(DIM, INTER, bias=False)
        self.down = nn.Linear(INTER, DIM, bias=False)
        self.enter = self.leave = lambda x: x

    def attention(self, x):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, -1, HEAD_DIM).transpose(1, 2) for p in (self.q, self.k, self.v))
        groups = q.shape[1] // k.shape[1]
        k, v = rope(k).repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        scores = rope(q) @ k.transpose(-1, -2) / HEAD_DIM**0.5
        mask = torch.ones(t, t, dtype=torch.bool).triu(1)
        out = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
        return self.o(out.transpose(1, 2).reshape(b, t, -1))

    def forward(self, x):
        x = x + self.leave(self.attention(self.enter(self.attn_norm(x))))
        h = self.enter(self.mlp_norm(x))
        return x + self.leave(self.down(F.silu(self.gate(h)) * self.up(h)))


def sequential():
    return Block()


def distributed(rank, world_size):
    block = Block()
    for name in ("q", "k", "v", "gate", "up"):
        linear = getattr(block, name)
        linear.weight = nn.Parameter(linear.weight.data.chunk(world_size, 0)[rank].clone())
    for name in ("o", "down"):
        linear = getattr(block, name)
        linear.weight = nn.Parameter(linear.weight.data.chunk(world_size, 1)[rank].clone())
    block.enter, block.leave = CopyToTP.apply, ReduceFromTP.apply
    return block


def inputs():
    return (torch.randn(3, 5, DIM),)


world_size = 2
backward = True
TRUTH = "refines"
