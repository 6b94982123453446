"""Megatron tensor + sequence parallel transformer block (fused qkv by heads, all-gather/reduce-scatter pairs as autograd.Functions, grads of norms and row biases all-reduced), forward and backward."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HIDDEN, HEADS, FFN = 8, 4, 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.RMSNorm(HIDDEN, eps=1e-6)
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.proj = nn.Linear(HIDDEN, HIDDEN)
        self.norm2 = nn.RMSNorm(HIDDEN, eps=1e-6)
        self.up = nn.Linear(HIDDEN, FFN)
        self.down = nn.Linear(FFN, HIDDEN)

    def forward(self, x):                                   # (s, b, h)
        s, b, h = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(s, b, 3, HEADS, h // HEADS).permute(2, 1, 3, 0, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.permute(2, 0, 1, 3).reshape(s, b, h))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GatherSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x.new_empty(x.shape[0] * dist.get_world_size(), *x.shape[1:])
        dist.all_gather_into_tensor(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, grad):
        out = grad.new_empty(grad.shape[0] // dist.get_world_size(), *grad.shape[1:])
        dist.reduce_scatter_tensor(out, grad.contiguous())
        return out


class ScatterSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x.new_empty(x.shape[0] // dist.get_world_size(), *x.shape[1:])
        dist.reduce_scatter_tensor(out, x.contiguous())
        return out

    @staticmethod
    def backward(ctx, grad):
        out = grad.new_empty(grad.shape[0] * dist.get_world_size(), *grad.shape[1:])
        dist.all_gather_into_tensor(out, grad.contiguous())
        return out


class SequenceShared(torch.autograd.Function):
    """A weight used on pieces of the sequence: its gradient is summed over them."""

    @staticmethod
    def forward(ctx, w):
        return w.view_as(w)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


gather, scatter, shared = GatherSequence.apply, ScatterSequence.apply, SequenceShared.apply


class ParallelBlock(nn.Module):
    def __init__(self, full, rank, n):
        super().__init__()
        self.n = n

        def cut(t, dim=0):
            return nn.Parameter(t.detach().chunk(n, dim)[rank].clone())

        def cut3(t):
            return nn.Parameter(torch.cat([p.chunk(n)[rank] for p in t.detach().chunk(3)]))

        self.norm1, self.norm2 = full.norm1, full.norm2
        self.qkv_weight, self.qkv_bias = cut3(full.qkv.weight), cut3(full.qkv.bias)
        self.proj_weight, self.proj_bias = cut(full.proj.weight, 1), full.proj.bias
        self.up_weight, self.up_bias = cut(full.up.weight), cut(full.up.bias)
        self.down_weight, self.down_bias = cut(full.down.weight, 1), full.down.bias

    def norm(self, norm, x):
        return F.rms_norm(x, (HIDDEN,), shared(norm.weight), norm.eps)

    def forward(self, x):
        y = gather(self.norm(self.norm1, x))
        s, b, h = y.shape
        qkv = F.linear(y, self.qkv_weight, self.qkv_bias)
        q, k, v = qkv.view(s, b, 3, HEADS // self.n, h // HEADS).permute(2, 1, 3, 0, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        a = a.permute(2, 0, 1, 3).reshape(s, b, h // self.n)
        x = x + scatter(F.linear(a, self.proj_weight)) + shared(self.proj_bias)
        y = gather(self.norm(self.norm2, x))
        y = F.gelu(F.linear(y, self.up_weight, self.up_bias))
        return x + scatter(F.linear(y, self.down_weight)) + shared(self.down_bias)


def sequential():
    return Block()


def distributed(rank, world_size):
    return ParallelBlock(Block(), rank, world_size)


def inputs():
    return torch.randn(8, 2, HIDDEN)


world_size = 2
backward = True
relations = {"x": "shard(0)"}
expected = {"0": "shard(0)"}
TRUTH = "refines"
