"""The same layer, by looking the distance up instead of shifting."""
import torch
from torch import nn
from torch.nn import functional as F


class RelAttention(nn.Module):
    def __init__(self, dim=12, heads=3):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.r = nn.Linear(dim, dim, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.u = nn.Parameter(torch.randn(heads, self.d))
        self.v = nn.Parameter(torch.randn(heads, self.d))

    def forward(self, x, r):
        b, t, _ = x.shape
        q, k, v = (p.unflatten(-1, (self.heads, self.d)).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        rk = self.r(r.flip(0)).unflatten(-1, (self.heads, self.d)).transpose(0, 1)      # by distance 0, 1, ...
        i = torch.arange(t)
        distance = (i[:, None] - i[None, :]).clamp(min=0)
        by_distance = (q + self.v[:, None]) @ rk.transpose(-1, -2)
        position = by_distance.gather(-1, distance.expand(b, self.heads, t, t))
        bias = position * self.d ** -0.5
        bias = torch.where(i[None, :] > i[:, None], float("-inf"), bias)
        y = F.scaled_dot_product_attention(q + self.u[:, None], k, v, attn_mask=bias)
        return self.o(y.transpose(1, 2).flatten(2))
