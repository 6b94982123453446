"""ALiBi attention in the manner of BLOOM, heads over four ranks."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

TRUTH = "differs"
WHY = "Each rank makes the slopes for as many heads as it has itself instead of taking its own part of the slopes of all heads."

world_size = 4

D, HEADS = 32, 8
HEAD = D // HEADS


def slopes(heads):
    base = 2.0 ** (-8.0 / heads)
    return base ** torch.arange(1, heads + 1)


class Alibi(nn.Module):
    def __init__(self, heads, qkv, bias, dense):
        super().__init__()
        self.heads = heads
        self.qkv, self.bias, self.dense = nn.Parameter(qkv), nn.Parameter(bias), nn.Parameter(dense)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = F.linear(x, self.qkv, self.bias).view(B, T, self.heads, 3, HEAD).permute(3, 0, 2, 1, 4)
        far = torch.arange(T)[None, :] - torch.arange(T)[:, None]
        scores = q @ k.transpose(-1, -2) / HEAD**0.5 + slopes(self.heads)[:, None, None] * far
        scores = scores.masked_fill(far > 0, float("-inf"))
        y = scores.softmax(-1) @ v
        return F.linear(y.transpose(1, 2).reshape(B, T, self.heads * HEAD), self.dense)


class ParallelAlibi(Alibi):
    def forward(self, x):
        out = super().forward(x)
        dist.all_reduce(out)
        return out


def sequential():
    torch.manual_seed(21)
    return Alibi(HEADS, 0.3 * torch.randn(3 * D, D), 0.1 * torch.randn(3 * D), 0.3 * torch.randn(D, D))


def distributed(rank, world_size):
    full = sequential()
    with torch.no_grad():
        qkv = full.qkv.chunk(world_size)[rank].clone()
        bias = full.bias.chunk(world_size)[rank].clone()
        dense = full.dense.chunk(world_size, 1)[rank].clone()
    return ParallelAlibi(HEADS // world_size, qkv, bias, dense)


def inputs():
    torch.manual_seed(22)
    return (torch.randn(2, 6, D),)
