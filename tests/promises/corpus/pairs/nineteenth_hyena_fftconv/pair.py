"""Hyena operator of order 2 with an implicit filter: FFT convolution or direct."""
import torch
from torch import nn
from torch.nn import functional as F


class Filter(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.rate = nn.Parameter(torch.randn(channels))
        self.net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, channels))

    def forward(self, length):
        t = torch.arange(length, dtype=self.rate.dtype)[:, None]
        return (self.net(t / 16) * torch.exp(-t * F.softplus(self.rate))).T      # channels, length


class ByFFT(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.proj = nn.Linear(channels, 3 * channels)
        self.filter = Filter(channels)
        self.skip = nn.Parameter(torch.randn(channels))

    def forward(self, u):
        length = u.shape[1]
        x1, x2, v = self.proj(u).transpose(1, 2).chunk(3, dim=1)
        v = v * x1
        k = torch.fft.rfft(self.filter(length), n=2 * length)
        y = torch.fft.irfft(torch.fft.rfft(v, n=2 * length) * k, n=2 * length)[..., :length]
        return ((y + v * self.skip[:, None]) * x2).transpose(1, 2)


class Direct(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.proj = nn.Linear(channels, 3 * channels)
        self.filter = Filter(channels)
        self.skip = nn.Parameter(torch.randn(channels))

    def forward(self, u):
        b, length, c = u.shape
        x1, x2, v = self.proj(u).split(c, dim=-1)
        v = (v * x1).transpose(1, 2)
        k = self.filter(length).flip(-1)[:, None]
        y = F.conv1d(F.pad(v, (length - 1, 0)), k, groups=c) + self.skip[None, :, None] * v
        return y.transpose(1, 2) * x2


left, right = ByFFT, Direct


def inputs():
    return (torch.randn(2, 6, 4),)
