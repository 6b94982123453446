# EQUAL
"""Swin block, shifted: Microsoft's windows and mask, and ours with einops, one bias tensor and fused attention."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange

torch.manual_seed(9)


def window_partition(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, window_size, window_size, C)


def window_reverse(windows, window_size, H, W):
    B = int(windows.shape[0] / (H * W / window_size / window_size))
    x = windows.view(B, H // window_size, W // window_size, window_size, window_size, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)


class WindowAttention(nn.Module):
    def __init__(self, dim, window_size, num_heads):
        super().__init__()
        self.dim, self.window_size, self.num_heads = dim, window_size, num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.relative_position_bias_table = nn.Parameter(
            torch.randn((2 * window_size - 1) * (2 * window_size - 1), num_heads) * 0.02)
        coords_h = torch.arange(window_size)
        coords = torch.stack(torch.meshgrid([coords_h, coords_h], indexing="ij"))
        coords_flatten = torch.flatten(coords, 1)
        relative_coords = coords_flatten[:, :, None] - coords_flatten[:, None, :]
        relative_coords = relative_coords.permute(1, 2, 0).contiguous()
        relative_coords[:, :, 0] += window_size - 1
        relative_coords[:, :, 1] += window_size - 1
        relative_coords[:, :, 0] *= 2 * window_size - 1
        self.register_buffer("relative_position_index", relative_coords.sum(-1))
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape(B_, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(N, N, -1)
        attn = attn + bias.permute(2, 0, 1).contiguous().unsqueeze(0)
        if mask is not None:
            nW = mask.shape[0]
            attn = attn.view(B_ // nW, nW, self.num_heads, N, N) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, self.num_heads, N, N)
        attn = attn.softmax(-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B_, N, C))


class SwinTransformerBlock(nn.Module):
    def __init__(self, dim=8, res=8, num_heads=2, window_size=4, shift_size=2):
        super().__init__()
        self.res, self.window_size, self.shift_size = res, window_size, shift_size
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, window_size, num_heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        img_mask = torch.zeros((1, res, res, 1))
        slices = (slice(0, -window_size), slice(-window_size, -shift_size), slice(-shift_size, None))
        cnt = 0
        for h in slices:
            for w in slices:
                img_mask[:, h, w, :] = cnt
                cnt += 1
        mask_windows = window_partition(img_mask, window_size).view(-1, window_size * window_size)
        attn_mask = mask_windows.unsqueeze(1) - mask_windows.unsqueeze(2)
        attn_mask = attn_mask.masked_fill(attn_mask != 0, (-100.0)).masked_fill(attn_mask == 0, 0.0)
        self.register_buffer("attn_mask", attn_mask)

    def forward(self, x):
        H = W = self.res
        B, L, C = x.shape
        shortcut = x
        x = self.norm1(x).view(B, H, W, C)
        shifted_x = torch.roll(x, shifts=(-self.shift_size, -self.shift_size), dims=(1, 2))
        x_windows = window_partition(shifted_x, self.window_size).view(-1, self.window_size * self.window_size, C)
        attn_windows = self.attn(x_windows, mask=self.attn_mask)
        attn_windows = attn_windows.view(-1, self.window_size, self.window_size, C)
        shifted_x = window_reverse(attn_windows, self.window_size, H, W)
        x = torch.roll(shifted_x, shifts=(self.shift_size, self.shift_size), dims=(1, 2))
        x = shortcut + x.view(B, H * W, C)
        return x + self.mlp(self.norm2(x))


class Ours(nn.Module):
    def __init__(self, ms):
        super().__init__()
        self.ms = ms

    def forward(self, tokens):
        m, ws, s, hw = self.ms, 4, 2, 8
        x = rearrange(m.norm1(tokens), "b (h w) c -> b h w c", h=hw)
        x = torch.cat([x[:, s:], x[:, :s]], 1)
        x = torch.cat([x[:, :, s:], x[:, :, :s]], 2)
        x = rearrange(x, "b (i p) (j q) c -> b (i j) (p q) c", p=ws, q=ws)
        q, k, v = rearrange(m.attn.qkv(x), "b n t (three h d) -> three b n h t d", three=3, h=2)
        table = m.attn.relative_position_bias_table.view(2 * ws - 1, 2 * ws - 1, 2)
        i = torch.arange(ws)
        d = i[:, None] - i[None] + ws - 1
        bias = table[d[:, None, :, None], d[None, :, None, :]]         # p q p' q' h
        bias = rearrange(bias, "p q r s h -> h (p q) (r s)")
        last = torch.arange(hw) >= hw - s
        row = rearrange(last, "(i p) -> i p", p=ws)
        region = 2 * row[:, None, :, None].int() + row[None, :, None, :].int()
        region = rearrange(region, "i j p q -> (i j) (p q)")
        apart = region[:, :, None] != region[:, None, :]
        mask = bias[None] - 100.0 * apart[:, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y = m.attn.proj(rearrange(y, "b n h t d -> b n t (h d)"))
        y = rearrange(y, "b (i j) (p q) c -> b (i p) (j q) c", i=hw // ws, p=ws)
        y = torch.cat([y[:, -s:], y[:, :-s]], 1)
        y = torch.cat([y[:, :, -s:], y[:, :, :-s]], 2)
        x = tokens + rearrange(y, "b h w c -> b (h w) c")
        return x + m.mlp(m.norm2(x))


left = SwinTransformerBlock().eval()
right = Ours(left).eval()
inputs = (torch.randn(2, 64, 8),)
