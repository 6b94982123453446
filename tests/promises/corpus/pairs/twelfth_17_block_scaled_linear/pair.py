"""Linear layer with block-wise weight scales (as in DeepSeek's FP8 checkpoints)."""
import math

import torch
from torch import nn
from torch.nn import functional as F

BLOCK = 4


class Dequantised(nn.Module):
    def __init__(self, in_features=12, out_features=10):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features))
        self.weight_scale_inv = nn.Parameter(
            torch.rand(math.ceil(out_features / BLOCK), math.ceil(in_features / BLOCK)) + 0.5
        )
        self.bias = nn.Parameter(torch.randn(out_features))

    def forward(self, x):
        n, k = self.weight.shape
        scale = self.weight_scale_inv.repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1)[:n, :k]
        return F.linear(x, self.weight * scale, self.bias)


class BlockGemm(Dequantised):
    """What the kernel does: the accumulator of each block of k is scaled, then added."""

    def forward(self, x):
        n, k = self.weight.shape
        acc = torch.zeros(*x.shape[:-1], n, dtype=x.dtype)
        for kb, start in enumerate(range(0, k, BLOCK)):
            stop = min(start + BLOCK, k)
            partial = x[..., start:stop] @ self.weight[:, start:stop].T
            per_row = torch.cat([self.weight_scale_inv[nb, kb].expand(min(BLOCK, n - nb * BLOCK)) for nb in range(math.ceil(n / BLOCK))])
            acc = acc + partial * per_row
        return acc + self.bias


left = Dequantised
right = BlockGemm
inputs = (torch.randn(3, 5, 12),)
