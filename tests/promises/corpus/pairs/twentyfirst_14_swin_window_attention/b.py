"""Window attention in one six-dimensional view, by torch's attention, with bias and mask added beforehand."""
import torch
from torch import nn
from torch.nn import functional as F

import a


class FusedWindowAttention(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.heads, self.ws, self.shift = m.heads, m.ws, m.shift
        self.table = m.relative_position_bias_table
        c = m.proj.weight.shape[0]
        for i, name in enumerate("qkv"):
            layer = nn.Linear(c, c)
            layer.weight.data = m.qkv.weight.data[i * c:(i + 1) * c].clone()
            layer.bias.data = m.qkv.bias.data[i * c:(i + 1) * c].clone()
            setattr(self, name, layer)
        self.out = m.proj

    def bias(self):
        ws = self.ws
        y, x = torch.arange(ws * ws) // ws, torch.arange(ws * ws) % ws
        dy, dx = y[:, None] - y[None] + ws - 1, x[:, None] - x[None] + ws - 1
        square = self.table.view(2 * ws - 1, 2 * ws - 1, self.heads)
        return square[dy, dx].permute(2, 0, 1)

    def regions(self, n):
        """Which rows of the rolled image come from the other edge: 0 elsewhere, 1 and 2 in the last window."""
        i = torch.arange(n)
        return (i >= n - self.ws).long() + (i >= n - self.shift).long()

    def forward(self, x):
        b, h, w, c = x.shape
        ws, s, heads = self.ws, self.shift, self.heads
        x = torch.cat([x[:, s:], x[:, :s]], 1)
        x = torch.cat([x[:, :, s:], x[:, :, :s]], 2)

        def split(t):
            t = t.view(b, h // ws, ws, w // ws, ws, heads, c // heads).permute(0, 1, 3, 5, 2, 4, 6)
            return t.reshape(b, h // ws * (w // ws), heads, ws * ws, c // heads)

        region = 3 * self.regions(h)[:, None] + self.regions(w)[None]
        region = region.view(h // ws, ws, w // ws, ws).transpose(1, 2).reshape(-1, 1, ws * ws)
        apart = region.unsqueeze(-1) != region.unsqueeze(-2)
        bias = self.bias()[None] + apart.to(x.dtype) * -100.0
        o = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(x)), split(self.v(x)), attn_mask=bias[None])
        o = o.view(b, h // ws, w // ws, heads, ws, ws, c // heads).permute(0, 1, 4, 2, 5, 3, 6).reshape(b, h, w, c)
        o = self.out(o)
        o = torch.cat([o[:, -s:], o[:, :-s]], 1)
        return torch.cat([o[:, :, -s:], o[:, :, :-s]], 2)


def make():
    return FusedWindowAttention(a.WindowAttention())
