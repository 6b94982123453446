"""Megatron tensor-parallel grouped-query attention (fused qkv by kv group, rotary, causal), forward and backward, 2 ranks."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, KV_HEADS, DIM = 16, 4, 2, 4


class _CopyToTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class _ReduceFromTP(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous().clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def rotary(x):                                            # b h s d
    half = x.shape[-1] // 2
    freq = 100.0 ** (-torch.arange(half) / half)
    angle = torch.arange(x.shape[-2])[:, None] * freq
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + turned * sin


def core_attention(mixed, groups):
    """mixed: b s (groups, q_per_group + 2, dim), the layout of Megatron's linear_qkv."""
    b, s, _ = mixed.shape
    per = HEADS // KV_HEADS
    mixed = mixed.view(b, s, groups, per + 2, DIM)
    q, k, v = mixed.split([per, 1, 1], dim=3)
    q = q.reshape(b, s, groups * per, DIM).transpose(1, 2)
    k = k.squeeze(3).transpose(1, 2).repeat_interleave(per, 1)
    v = v.squeeze(3).transpose(1, 2).repeat_interleave(per, 1)
    out = F.scaled_dot_product_attention(rotary(q), rotary(k), v, is_causal=True)
    return out.transpose(1, 2).reshape(b, s, groups * per * DIM)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, (HEADS + 2 * KV_HEADS) * DIM)
        self.proj = nn.Linear(HEADS * DIM, WIDTH)

    def forward(self, x):
        return x + self.proj(core_attention(self.qkv(x), KV_HEADS))


class TPAttention(nn.Module):
    def __init__(self, full, rank, world_size):
        super().__init__()
        self.groups = KV_HEADS // world_size
        self.qkv_weight = nn.Parameter(full.qkv.weight.detach().chunk(world_size, 0)[rank].clone())
        self.qkv_bias = nn.Parameter(full.qkv.bias.detach().chunk(world_size, 0)[rank].clone())
        self.proj_weight = nn.Parameter(full.proj.weight.detach().chunk(world_size, 1)[rank].clone())
        self.proj_bias = nn.Parameter(full.proj.bias.detach().clone())

    def forward(self, x):
        mixed = F.linear(_CopyToTP.apply(x), self.qkv_weight, self.qkv_bias)
        y = F.linear(core_attention(mixed, self.groups), self.proj_weight)
        return x + _ReduceFromTP.apply(y) + self.proj_bias


def sequential():
    return Attention()


def distributed(rank, world_size):
    return TPAttention(Attention(), rank, world_size)


def inputs():
    return (torch.randn(2, 5, WIDTH),)


world_size = 2
backward = True

TRUTH = "refines"
