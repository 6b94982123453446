"""Shifted window attention with relative position bias, as in Swin."""
import torch
from torch import nn


def window_partition(x, ws):
    B, H, W, C = x.shape
    x = x.view(B, H // ws, ws, W // ws, ws, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, ws, ws, C)


def window_reverse(windows, ws, H, W):
    B = windows.shape[0] // (H // ws * (W // ws))
    x = windows.view(B, H // ws, W // ws, ws, ws, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)


class WindowAttention(nn.Module):
    def __init__(self, dim=8, heads=2, ws=2, shift=1):
        super().__init__()
        self.heads, self.ws, self.shift, self.scale = heads, ws, shift, (dim // heads) ** -0.5
        self.relative_position_bias_table = nn.Parameter(torch.randn((2 * ws - 1) ** 2, heads))
        coords = torch.stack(torch.meshgrid(torch.arange(ws), torch.arange(ws), indexing="ij")).flatten(1)
        rel = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + ws - 1
        self.register_buffer("relative_position_index", rel[..., 0] * (2 * ws - 1) + rel[..., 1])
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def mask(self, H, W):
        img = torch.zeros(1, H, W, 1)
        cuts = (slice(0, -self.ws), slice(-self.ws, -self.shift), slice(-self.shift, None))
        cnt = 0
        for h in cuts:
            for w in cuts:
                img[:, h, w, :] = cnt
                cnt += 1
        win = window_partition(img, self.ws).view(-1, self.ws * self.ws)
        diff = win.unsqueeze(1) - win.unsqueeze(2)
        return diff.masked_fill(diff != 0, -100.0).masked_fill(diff == 0, 0.0)

    def forward(self, x):
        B, H, W, C = x.shape
        shifted = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        win = window_partition(shifted, self.ws).view(-1, self.ws ** 2, C)
        n, N, _ = win.shape
        q, k, v = self.qkv(win).reshape(n, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(N, N, -1)
        attn = attn + bias.permute(2, 0, 1).unsqueeze(0)
        mask = self.mask(H, W).to(x.dtype)
        attn = attn.view(B, -1, self.heads, N, N) + mask[None, :, None]
        attn = attn.view(-1, self.heads, N, N).softmax(-1)
        out = self.proj((attn @ v).transpose(1, 2).reshape(n, N, C))
        out = window_reverse(out.view(-1, self.ws, self.ws, C), self.ws, H, W)
        return torch.roll(out, (self.shift, self.shift), (1, 2))


def inputs():
    return (torch.randn(2, 4, 6, 8),)
