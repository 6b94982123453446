# EQUAL.
"""Swin patch merging (x0..x3 concatenated, layer norm, reduction) vs a space-to-depth reshape with reordered weights. EQUAL."""
import torch
from torch import nn


class PatchMerging(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = nn.LayerNorm(4 * dim)
        nn.init.uniform_(self.norm.weight, 0.5, 1.5)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):                                  # B H W C
        B, H, W, C = x.shape
        x0 = x[:, 0::2, 0::2, :]
        x1 = x[:, 1::2, 0::2, :]
        x2 = x[:, 0::2, 1::2, :]
        x3 = x[:, 1::2, 1::2, :]
        x = torch.cat([x0, x1, x2, x3], -1).view(B, -1, 4 * C)
        return self.reduction(self.norm(x))


class SpaceToDepth(nn.Module):
    """channels first in, pixel_unshuffle order c, dy, dx"""

    def __init__(self, m, dim=4):
        super().__init__()
        # swin order is (dx, dy, c)
        turn = lambda w: w.unflatten(-1, (2, 2, dim)).transpose(-1, -3).flatten(-3).contiguous()
        self.weight = nn.Parameter(turn(m.reduction.weight.data))
        self.gamma = nn.Parameter(turn(m.norm.weight.data))
        self.beta = nn.Parameter(turn(m.norm.bias.data))

    def forward(self, x):
        y = torch.nn.functional.pixel_unshuffle(x.permute(0, 3, 1, 2), 2).flatten(2).mT
        var, mean = torch.var_mean(y, -1, correction=0, keepdim=True)
        y = (y - mean) / torch.sqrt(var + 1e-5) * self.gamma + self.beta
        return y @ self.weight.T


left = PatchMerging()
right = SpaceToDepth(left)
inputs = (torch.randn(2, 6, 4, 4),)
