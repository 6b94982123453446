"""The block as a kernel library wants it: norm and modulation folded to one multiply and add per channel, im2col."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def silu(x):
    return x / (1 + torch.exp(-x))


class FusedResBlock(nn.Module):
    def __init__(self, channels=6, out_channels=8, emb=10, groups=2, eps=1e-5):
        super().__init__()
        self.emb_dim, self.groups, self.eps = emb, groups, eps
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

    def affine_silu(self, h, norm, scale=None, shift=None):
        """silu(a · h + b), with a and b [N, C] from the statistics of groups, the norm's weights and the modulation."""
        N, C = h.shape[:2]
        g = h.reshape(N, self.groups, -1)
        mean = g.mean(-1)
        rstd = torch.rsqrt(g.square().mean(-1) - mean.square() + self.eps)
        per = C // self.groups
        a = rstd.repeat_interleave(per, 1) * norm.weight
        b = norm.bias - mean.repeat_interleave(per, 1) * a
        if scale is not None:
            a, b = a * (1 + scale), b * (1 + scale) + shift
        return silu(h * a[:, :, None, None] + b[:, :, None, None])

    @staticmethod
    def im2col_conv(x, conv):
        N, _, H, W = x.shape
        cols = F.unfold(x, 3, padding=1)                               # [N, 9 C, HW]
        return (conv.weight.flatten(1) @ cols + conv.bias[:, None]).view(N, -1, H, W)

    def forward(self, x, t):
        half = self.emb_dim // 2
        freqs = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.get_default_dtype()) / half)
        args = torch.outer(t, freqs)
        emb = torch.stack([args.cos(), args.sin()], 1).flatten(1)
        emb = self.time_embed[2](silu(self.time_embed[0](emb)))
        modulation = F.linear(silu(emb), self.emb_layers[1].weight, self.emb_layers[1].bias)
        C = self.out_conv.out_channels
        h = self.im2col_conv(self.affine_silu(x, self.in_norm), self.in_conv)
        h = self.affine_silu(h, self.out_norm, modulation[:, :C], modulation[:, C:])
        h = self.im2col_conv(h, self.out_conv)
        return h + torch.einsum("oc,nchw->nohw", self.skip_connection.weight[:, :, 0, 0], x) + self.skip_connection.bias[:, None, None]
