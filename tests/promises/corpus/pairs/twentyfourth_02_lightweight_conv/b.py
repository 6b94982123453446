"""The same layer for export: batch first, one grouped conv1d, left padding."""
import torch
from torch import nn
from torch.nn import functional as F


class LightConvExport(nn.Module):
    def __init__(self, dim=12, heads=3, kernel=4):
        super().__init__()
        self.heads, self.kernel = heads, kernel
        self.linear1 = nn.Linear(dim, 2 * dim)
        self.weight = nn.Parameter(torch.randn(heads, 1, kernel))
        self.bias = nn.Parameter(torch.randn(dim) * 0.1)
        self.linear2 = nn.Linear(dim, dim)

    def forward(self, x):                                  # T x B x C
        value, gate = self.linear1(x).split(x.shape[-1], dim=-1)
        h = (value * gate.sigmoid()).permute(1, 2, 0)      # B x C x T
        channels = h.shape[1]
        taps = torch.softmax(self.weight, dim=-1)
        taps = taps.repeat_interleave(channels // self.heads, dim=0)
        h = F.conv1d(F.pad(h, (self.kernel - 1, 0)), taps, self.bias, groups=channels)
        return self.linear2(h.permute(2, 0, 1))
