"""A shifted-window block of Swin: roll, cut into windows, attend with relative position bias, merge, roll back."""

import torch
from torch import nn


def window_partition(x, w):
    B, H, W, C = x.shape
    x = x.view(B, H // w, w, W // w, w, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, w * w, C)


def window_reverse(windows, w, H, W):
    B = windows.shape[0] // ((H // w) * (W // w))
    x = windows.view(B, H // w, W // w, w, w, -1)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(B, H, W, -1)


class SwinBlock(nn.Module):
    def __init__(self, dim=12, heads=3, window=3, shift=1, resolution=(6, 9)):
        super().__init__()
        self.heads, self.window, self.shift, self.resolution = heads, window, shift, resolution
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.relative_position_bias_table = nn.Parameter(0.5 * torch.randn((2 * window - 1) ** 2, heads))
        self.proj = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        for norm in (self.norm1, self.norm2):
            nn.init.normal_(norm.weight)
            nn.init.normal_(norm.bias)
        coords = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("relative_position_index", relative[..., 0] * (2 * window - 1) + relative[..., 1])
        H, W = resolution
        img_mask, count = torch.zeros(1, H, W, 1), 0
        for hs in (slice(0, -window), slice(-window, -shift), slice(-shift, None)):
            for ws in (slice(0, -window), slice(-window, -shift), slice(-shift, None)):
                img_mask[:, hs, ws] = count
                count += 1
        ids = window_partition(img_mask, window).squeeze(-1)
        self.register_buffer("apart", ids[:, None, :] != ids[:, :, None])          # [windows, N, N]

    def attention(self, x):
        Bw, N, C = x.shape
        qkv = self.qkv(x).reshape(Bw, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q * (C // self.heads) ** -0.5) @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(N, N, -1)
        attn = attn + bias.permute(2, 0, 1).unsqueeze(0)
        nW = self.apart.shape[0]
        attn = attn.view(Bw // nW, nW, self.heads, N, N)
        attn = attn.masked_fill(self.apart[None, :, None], float("-inf")).view(-1, self.heads, N, N).softmax(-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(Bw, N, C))

    def forward(self, x):
        H, W = self.resolution
        B, _, C = x.shape
        shortcut = x
        x = self.norm1(x).view(B, H, W, C)
        x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        x = window_reverse(self.attention(window_partition(x, self.window)), self.window, H, W)
        x = torch.roll(x, shifts=(self.shift, self.shift), dims=(1, 2)).reshape(B, H * W, C)
        x = shortcut + x
        return x + self.mlp(self.norm2(x))


def inputs():
    return (torch.randn(2, 54, 12),)
