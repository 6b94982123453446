"""An FNet layer by torch.fft and by matrices, for an engine without complex numbers."""
import math

import torch
from torch import nn


class FNetLayer(nn.Module):
    def __init__(self, dim=8, hidden=16):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))
        nn.init.normal_(self.norm1.weight, 1.0, 0.1)
        nn.init.normal_(self.norm2.weight, 1.0, 0.1)

    def mix(self, x):
        return torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real

    def forward(self, x):
        x = self.norm1(x + self.mix(x))
        return self.norm2(x + self.ff(x))


def dft(n, dtype):
    k = torch.arange(n, dtype=dtype)
    angle = 2 * math.pi * torch.outer(k, k) / n
    return torch.cos(angle), torch.sin(angle)


class RealFNetLayer(FNetLayer):
    def mix(self, x):
        cos_t, sin_t = dft(x.shape[-2], x.dtype)
        cos_d, sin_d = dft(x.shape[-1], x.dtype)
        return cos_t @ x @ cos_d - sin_t @ x @ sin_d


torch.manual_seed(0)
left = FNetLayer()
right = RealFNetLayer()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 6, 8),)
