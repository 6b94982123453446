"""A residual block of a diffusion U-Net with its embedding of the timestep, as the original repository has it."""
import math

import torch
from torch import nn

INSIDE, OUTSIDE, EMBEDDING, GROUPS = 4, 8, 12, 2


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(0, half) / half)
    args = timesteps[:, None] * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class ResBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.time_embed = nn.Sequential(nn.Linear(EMBEDDING, 16), nn.SiLU(), nn.Linear(16, 16))
        self.in_layers = nn.Sequential(
            nn.GroupNorm(GROUPS, INSIDE), nn.SiLU(), nn.Conv2d(INSIDE, OUTSIDE, 3, padding=1)
        )
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(16, OUTSIDE))
        self.out_layers = nn.Sequential(
            nn.GroupNorm(GROUPS, OUTSIDE), nn.SiLU(), nn.Conv2d(OUTSIDE, OUTSIDE, 3, padding=1)
        )
        self.skip_connection = nn.Conv2d(INSIDE, OUTSIDE, 1)
        for norm in (self.in_layers[0], self.out_layers[0]):
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)

    def forward(self, x, timesteps):
        emb = self.time_embed(timestep_embedding(timesteps, EMBEDDING))
        h = self.in_layers(x)
        h = h + self.emb_layers(emb)[..., None, None]
        h = self.out_layers(h)
        return self.skip_connection(x) + h


def inputs():
    return torch.randn(2, INSIDE, 5, 6), torch.randint(0, 1000, (2,))
