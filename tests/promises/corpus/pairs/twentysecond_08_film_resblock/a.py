"""A residual block of a diffusion U-Net with time embedding as scale and shift (openai/guided-diffusion)."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def timestep_embedding(t, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.get_default_dtype()) / half)
    args = t[:, None] * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, channels=6, out_channels=8, emb=10, groups=2):
        super().__init__()
        self.emb_dim = emb
        self.in_norm = nn.GroupNorm(groups, channels)
        self.in_conv = nn.Conv2d(channels, out_channels, 3, padding=1)
        self.time_embed = nn.Sequential(nn.Linear(emb, emb), nn.SiLU(), nn.Linear(emb, emb))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb, 2 * out_channels))
        self.out_norm = nn.GroupNorm(groups, out_channels)
        self.out_conv = nn.Conv2d(out_channels, out_channels, 3, padding=1)
        self.skip_connection = nn.Conv2d(channels, out_channels, 1)
        for norm in (self.in_norm, self.out_norm):
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)

    def forward(self, x, t):
        emb = self.time_embed(timestep_embedding(t, self.emb_dim))
        h = self.in_conv(F.silu(self.in_norm(x)))
        emb_out = self.emb_layers(emb)[..., None, None]
        scale, shift = torch.chunk(emb_out, 2, dim=1)
        h = self.out_norm(h) * (1 + scale) + shift
        h = self.out_conv(F.silu(h))
        return self.skip_connection(x) + h


def inputs():
    return torch.randn(2, 6, 4, 5), 1000 * torch.rand(2)
