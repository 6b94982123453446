# EQUAL.
"""Grouped strided convolution + pixel shuffle vs unfold + matmul + reshape by hand. EQUAL."""
import torch
from torch import nn
import torch.nn.functional as F


class Up(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 12, 3, stride=2, padding=1, groups=2)

    def forward(self, x):
        return F.pixel_shuffle(F.relu(self.conv(x)), 2)


class UpMatmul(nn.Module):
    def __init__(self, up):
        super().__init__()
        c = up.conv
        self.weight = nn.Parameter(c.weight.data.reshape(2, 6, -1).clone())      # g, out, in*9
        self.bias = nn.Parameter(c.bias.data.clone())

    def forward(self, x):
        b, c, h, w = x.shape
        ho, wo = (h - 1) // 2 + 1, (w - 1) // 2 + 1
        cols = F.unfold(x, 3, padding=1, stride=2).reshape(b, 2, -1, ho * wo)
        y = torch.matmul(self.weight, cols).reshape(b, 12, ho, wo)
        y = (y + self.bias[None, :, None, None]).clamp(min=0)
        y = y.reshape(b, 3, 2, 2, ho, wo).permute(0, 1, 4, 2, 5, 3)
        return y.reshape(b, 3, 2 * ho, 2 * wo)


left = Up()
right = UpMatmul(left)
inputs = (torch.randn(2, 4, 7, 6),)
