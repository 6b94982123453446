"""Grouped-query attention with rotary embedding on 4 ranks and only 2 kv heads: ranks in pairs hold one kv head and add up its gradient."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HEADS, KV_HEADS, DIM, WIDTH = 8, 2, 4, 16
world_size = 4
backward = True


def rope(x, base=10000.0):
    """x: batch, heads, positions, DIM; halves are rotated as in Llama."""
    frequencies = base ** (-torch.arange(0, DIM, 2).float() / DIM)
    angles = torch.arange(x.shape[2]).float()[:, None] * frequencies
    cos, sin = torch.cat([angles.cos()] * 2, -1), torch.cat([angles.sin()] * 2, -1)
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


def heads(x, n):
    return x.view(x.shape[0], x.shape[1], n, DIM).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(WIDTH, HEADS * DIM)
        self.k_proj = nn.Linear(WIDTH, KV_HEADS * DIM)
        self.v_proj = nn.Linear(WIDTH, KV_HEADS * DIM)
        self.o_proj = nn.Linear(HEADS * DIM, WIDTH, bias=False)

    def forward(self, x):
        q, k = rope(heads(self.q_proj(x), HEADS)), rope(heads(self.k_proj(x), KV_HEADS))
        v = heads(self.v_proj(x), KV_HEADS)
        k, v = (t.repeat_interleave(HEADS // KV_HEADS, dim=1) for t in (k, v))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).flatten(2))


class Copy(torch.autograd.Function):
    """Megatron's f: nothing forward, an all-reduce over the group backward."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class Reduce(torch.autograd.Function):
    """Megatron's g: an all-reduce forward, nothing backward."""

    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class ParallelAttention(nn.Module):
    def __init__(self, whole, rank, world_size):
        super().__init__()
        self.local_heads = HEADS // world_size
        copies = world_size // KV_HEADS                                 # ranks that share a kv head
        for i in range(KV_HEADS):
            group = dist.new_group(list(range(i * copies, (i + 1) * copies)))
            if rank // copies == i:
                self.kv_group = group

        def piece(parameter, n, i, dim=0):
            return nn.Parameter(parameter.detach().chunk(n, dim)[i].clone())

        self.q_weight = piece(whole.q_proj.weight, world_size, rank)
        self.q_bias = piece(whole.q_proj.bias, world_size, rank)
        self.k_weight = piece(whole.k_proj.weight, KV_HEADS, rank // copies)
        self.k_bias = piece(whole.k_proj.bias, KV_HEADS, rank // copies)
        self.v_weight = piece(whole.v_proj.weight, KV_HEADS, rank // copies)
        self.v_bias = piece(whole.v_proj.bias, KV_HEADS, rank // copies)
        self.o_weight = piece(whole.o_proj.weight, world_size, rank, dim=1)

    def forward(self, x):
        x = Copy.apply(x, None)

        def shared(weight, bias):
            return F.linear(x, Copy.apply(weight, self.kv_group), Copy.apply(bias, self.kv_group))

        q = rope(heads(F.linear(x, self.q_weight, self.q_bias), self.local_heads))
        k = rope(heads(shared(self.k_weight, self.k_bias), 1))
        v = heads(shared(self.v_weight, self.v_bias), 1)
        k, v = (t.expand(-1, self.local_heads, -1, -1) for t in (k, v))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return Reduce.apply(F.linear(out.transpose(1, 2).flatten(2), self.o_weight))


def sequential():
    return Attention()


def distributed(rank, world_size):
    return ParallelAttention(Attention(), rank, world_size)


def inputs():
    return (torch.randn(2, 5, WIDTH),)

TRUTH = "refines"
