"""A DiT block (adaLN-Zero) with the image's tokens spread over ranks: keys and values are gathered, everything else is local. The
weights and the conditioning are replicated; gradients are summed over ranks where they are used."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

DIM, HEADS = 8, 2


class GatherTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        n = dist.get_world_size()
        parts = x.new_empty(n * x.shape[0], *x.shape[1:])
        dist.all_gather_into_tensor(parts, x.contiguous())
        return torch.cat(parts.chunk(n), dim=1)

    @staticmethod
    def backward(ctx, grad):
        parts = torch.cat(grad.chunk(dist.get_world_size(), dim=1))
        own = grad.new_empty(parts.shape[0] // dist.get_world_size(), *parts.shape[1:])
        dist.reduce_scatter_tensor(own, parts)
        return own


class SumGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


def modulate(x, shift, scale):
    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)


class DiTBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(DIM, elementwise_affine=False, eps=1e-6)
        self.norm2 = nn.LayerNorm(DIM, elementwise_affine=False, eps=1e-6)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.GELU(approximate="tanh"), nn.Linear(2 * DIM, DIM))
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(DIM, 6 * DIM))

    def all_tokens(self, t):
        return t

    def attention(self, x):
        b = x.shape[0]
        q, k, v = self.qkv(x).chunk(3, -1)
        k, v = self.all_tokens(k), self.all_tokens(v)
        q, k, v = (t.view(b, t.shape[1], HEADS, -1).transpose(1, 2) for t in (q, k, v))
        out = F.scaled_dot_product_attention(q, k, v)
        return self.proj(out.transpose(1, 2).flatten(2))

    def forward(self, x, c):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.ada(c).chunk(6, dim=1)
        x = x + gate1.unsqueeze(1) * self.attention(modulate(self.norm1(x), shift1, scale1))
        return x + gate2.unsqueeze(1) * self.mlp(modulate(self.norm2(x), shift2, scale2))


def reduce_gradient(param):
    dist.all_reduce(param.grad)


class TokenParallelDiTBlock(DiTBlock):
    def __init__(self):
        super().__init__()
        for p in self.parameters():
            p.register_post_accumulate_grad_hook(reduce_gradient)

    def all_tokens(self, t):
        return GatherTokens.apply(t)

    def forward(self, x, c):
        return super().forward(x, SumGradient.apply(c))


def sequential():
    return DiTBlock()


def distributed(rank, world_size):
    return TokenParallelDiTBlock()


def inputs():
    return torch.randn(2, 8, DIM), torch.randn(2, DIM)


world_size = 4
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
backward = True

TRUTH = "refines"
