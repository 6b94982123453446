"""A T5 encoder layer under a DTensor plan; the table of relative position biases is cut by heads like q, k and v. Forward and backward."""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

D, HEADS, D_KV, D_FF, BUCKETS = 12, 4, 3, 16, 8


class T5LayerNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def bucket(relative, max_distance=16):
    """T5's bidirectional buckets: half for each sign; exact ones for short distances, logarithmic ones after."""
    half = BUCKETS // 2
    out = (relative > 0).long() * half
    distance = relative.abs()
    exact = half // 2
    far = exact + (torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact) * (half - exact)).long()
    return out + torch.where(distance < exact, distance, far.clamp(max=half - 1))


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, HEADS * D_KV, bias=False) for _ in range(3))
        self.o = nn.Linear(HEADS * D_KV, D, bias=False)
        self.relative_attention_bias = nn.Embedding(BUCKETS, HEADS)

    def forward(self, x, mask):
        b, s, _ = x.shape
        q, k, v = (p(x).view(b, s, -1, D_KV).transpose(1, 2) for p in (self.q, self.k, self.v))
        positions = torch.arange(s)
        bias = self.relative_attention_bias(bucket(positions[None, :] - positions[:, None]))
        scores = q @ k.transpose(-1, -2) + bias.permute(2, 0, 1).unsqueeze(0)       # T5 does not scale
        scores = scores.masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, s, -1))


class GatedFF(nn.Module):
    def __init__(self):
        super().__init__()
        self.wi_0, self.wi_1, self.wo = nn.Linear(D, D_FF, bias=False), nn.Linear(D, D_FF, bias=False), nn.Linear(D_FF, D, bias=False)

    def forward(self, x):
        return self.wo(F.gelu(self.wi_0(x), approximate="tanh") * self.wi_1(x))


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attn, self.norm2, self.ff = T5LayerNorm(), SelfAttention(), T5LayerNorm(), GatedFF()

    def forward(self, x, mask):
        x = x + self.attn(self.norm1(x), mask)
        return x + self.ff(self.norm2(x))


def sequential():
    return EncoderLayer()


plan = {
    "attn.q": ColwiseParallel(), "attn.k": ColwiseParallel(), "attn.v": ColwiseParallel(),
    "attn.relative_attention_bias": ColwiseParallel(),
    "attn.o": RowwiseParallel(),
    "ff.wi_0": ColwiseParallel(), "ff.wi_1": ColwiseParallel(), "ff.wo": RowwiseParallel(),
}


def inputs():
    mask = torch.ones(2, 7, dtype=torch.bool)
    mask[1, 5:] = False
    return {"x": torch.randn(2, 7, D), "mask": mask}


world_size = 2
backward = True

TRUTH = "refines"
