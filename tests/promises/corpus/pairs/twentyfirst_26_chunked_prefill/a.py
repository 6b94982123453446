"""Attention of one chunk of a prompt: earlier keys come from the cache; causal by absolute position."""
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim=16, heads=4, kv_heads=2):
        super().__init__()
        self.h, self.kv, self.d = heads, kv_heads, dim // heads
        self.q_proj = nn.Linear(dim, heads * self.d, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * self.d, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * self.d, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x, past_k, past_v):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.h, self.d).transpose(1, 2)
        k = torch.cat([past_k, self.k_proj(x).view(b, t, self.kv, self.d).transpose(1, 2)], 2)
        v = torch.cat([past_v, self.v_proj(x).view(b, t, self.kv, self.d).transpose(1, 2)], 2)
        kk, vv = (z.repeat_interleave(self.h // self.kv, 1) for z in (k, v))
        scores = q @ kk.transpose(-1, -2) / self.d ** 0.5
        past = past_k.shape[2]
        rows = torch.arange(t)[:, None] + past
        cols = torch.arange(past + t)[None]
        scores = scores.masked_fill(cols > rows, float("-inf"))
        out = (scores.softmax(-1) @ vv).transpose(1, 2).reshape(b, t, -1)
        return self.o_proj(out), k, v


def inputs():
    return torch.randn(2, 3, 16), torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4)
