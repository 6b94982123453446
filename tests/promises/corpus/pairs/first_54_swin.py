# EQUAL. shifted-window attention block: Swin's window_partition/reverse + roll vs one attention over all tokens with a window mask
import torch
from torch import nn
import torch.nn.functional as F

HH = WW = 4
WS, C, NH, SHIFT = 2, 8, 2, 1


def window_partition(x, ws):
    B, H, W, c = x.shape
    x = x.view(B, H // ws, ws, W // ws, ws, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, ws, ws, c)


def window_reverse(windows, ws, H, W):
    B = int(windows.shape[0] / (H * W / ws / ws))
    x = windows.view(B, H // ws, W // ws, ws, ws, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(C, 3 * C)
        self.proj = nn.Linear(C, C)

    def forward(self, x):
        s = torch.roll(x, shifts=(-SHIFT, -SHIFT), dims=(1, 2))
        w = window_partition(s, WS).view(-1, WS * WS, C)
        q, k, v = self.qkv(w).reshape(-1, WS * WS, 3, NH, C // NH).permute(2, 0, 3, 1, 4)
        a = (q * (C // NH) ** -0.5) @ k.transpose(-2, -1)
        o = (a.softmax(-1) @ v).transpose(1, 2).reshape(-1, WS, WS, C)
        o = window_reverse(self.proj(o), WS, HH, WW)
        return torch.roll(o, shifts=(SHIFT, SHIFT), dims=(1, 2))


class Masked(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.qkv, self.proj = ref.qkv, ref.proj
        ids = torch.arange(HH * WW).view(HH, WW)
        y, x = torch.div(ids, WW, rounding_mode="floor"), ids % WW
        win = ((y - SHIFT) % HH) // WS * (WW // WS) + ((x - SHIFT) % WW) // WS
        win = win.flatten()
        self.register_buffer("mask", win[:, None] == win[None, :], persistent=False)

    def forward(self, x):
        B = x.shape[0]
        t = x.reshape(B, HH * WW, C)
        q, k, v = (z.unflatten(-1, (NH, -1)).transpose(1, 2) for z in self.qkv(t).chunk(3, -1))
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
        return self.proj(o.transpose(1, 2).flatten(2)).view(B, HH, WW, C)


torch.manual_seed(0)
left = Swin()
right = Masked(left)
inputs = (torch.randn(2, HH, WW, C),)
