"""The block in the naming of diffusers, whose embedding has two switches (sine first or not, the shift of the frequencies)."""
import math

import torch
from a import EMBEDDING, GROUPS, ResBlock
from torch import nn
from torch.nn import functional as F


def get_timestep_embedding(timesteps, dim, flip_sin_to_cos=False, downscale_freq_shift=1.0, max_period=10000):
    half = dim // 2
    exponent = -math.log(max_period) * torch.arange(start=0, end=half)
    exponent = exponent / (half - downscale_freq_shift)
    emb = timesteps[:, None] * torch.exp(exponent)[None, :]
    emb = torch.cat([torch.sin(emb), torch.cos(emb)], dim=-1)
    if flip_sin_to_cos:
        emb = torch.cat([emb[:, half:], emb[:, :half]], dim=-1)
    return emb


class ResnetBlock2D(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = ResBlock()
        self.linear_1, self.linear_2 = theirs.time_embed[0], theirs.time_embed[2]
        self.norm1, self.conv1 = theirs.in_layers[0], theirs.in_layers[2]
        self.time_emb_proj = theirs.emb_layers[1]
        self.norm2, self.conv2 = theirs.out_layers[0], theirs.out_layers[2]
        self.conv_shortcut = theirs.skip_connection

    def normed(self, x, norm):
        groups = x.unflatten(1, (GROUPS, -1))
        mean = groups.mean(dim=(2, 3, 4), keepdim=True)
        variance = groups.var(dim=(2, 3, 4), keepdim=True, unbiased=False)
        y = ((groups - mean) / torch.sqrt(variance + norm.eps)).flatten(1, 2)
        return F.silu(y * norm.weight[:, None, None] + norm.bias[:, None, None])

    def forward(self, sample, timestep):
        temb = get_timestep_embedding(timestep, EMBEDDING, flip_sin_to_cos=True)
        temb = self.linear_2(F.silu(self.linear_1(temb)))
        hidden = self.conv1(self.normed(sample, self.norm1))
        hidden = hidden + self.time_emb_proj(F.silu(temb))[:, :, None, None]
        hidden = self.conv2(self.normed(hidden, self.norm2))
        return self.conv_shortcut(sample) + hidden
