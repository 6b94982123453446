"""Attention of a prefill chunk over a cache that holds earlier chunks."""
import torch
from torch import nn
from torch.nn import functional as F

HEADS = 2


class Explicit(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, past_k, past_v):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
        k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
        where = torch.arange(past_k.shape[2], k.shape[2])
        visible = torch.arange(k.shape[2])[None] <= where[:, None]
        score = q @ k.transpose(-1, -2) / (d // HEADS) ** 0.5
        p = score.masked_fill(~visible, torch.finfo(score.dtype).min).softmax(-1)
        return self.out((p @ v).transpose(1, 2).reshape(b, t, d)), k, v


class Fused(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, past_k, past_v):
        b, t, d = x.shape
        q, k, v = (y.unflatten(-1, (HEADS, -1)).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        k, v = torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2)), k, v


left, right = Explicit, Fused


def inputs():
    return torch.randn(2, 3, 8), torch.randn(2, HEADS, 5, 4), torch.randn(2, HEADS, 5, 4)
