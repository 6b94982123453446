"""Attention of BLOOM: fused projection with q, k and v of each head side by side, and linear biases (ALiBi)."""
import math

import torch
from torch import nn

DIM, HEADS = 24, 6


def alibi_slopes(heads):
    closest = 2 ** math.floor(math.log2(heads))
    base = 2 ** (-(2 ** -(math.log2(closest) - 3)))
    slopes = [base**power for power in range(1, 1 + closest)]
    if closest != heads:
        extra = 2 ** (-(2 ** -(math.log2(2 * closest) - 3)))
        remaining = min(closest, heads - closest)
        slopes += [extra**power for power in range(1, 1 + 2 * remaining, 2)]
    return torch.tensor(slopes)


class BloomAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_key_value = nn.Linear(DIM, 3 * DIM)
        self.dense = nn.Linear(DIM, DIM)

    def forward(self, x):
        batch, time, _ = x.shape
        fused = self.query_key_value(x).view(batch, time, HEADS, 3, DIM // HEADS)
        q, k, v = (fused[..., i, :].transpose(1, 2) for i in range(3))
        alibi = alibi_slopes(HEADS)[:, None, None] * torch.arange(time)[None, None, :]
        scores = alibi + q @ k.transpose(-1, -2) / math.sqrt(DIM // HEADS)
        causal = torch.ones(time, time, dtype=torch.bool).tril()
        weights = scores.masked_fill(~causal, float("-inf")).softmax(-1)
        return self.dense((weights @ v).transpose(1, 2).reshape(batch, time, DIM))


def inputs():
    return (torch.randn(2, 5, DIM),)
