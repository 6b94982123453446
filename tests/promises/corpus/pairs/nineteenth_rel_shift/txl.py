"""Relative multi-head attention of Transformer-XL, with its rel_shift."""
import torch
from torch import nn


class RelAttention(nn.Module):
    def __init__(self, dim=12, heads=3):
        super().__init__()
        self.heads, self.d = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.r = nn.Linear(dim, dim, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)
        self.u = nn.Parameter(torch.randn(heads, self.d))
        self.v = nn.Parameter(torch.randn(heads, self.d))

    @staticmethod
    def rel_shift(x):
        b, h, q, k = x.shape
        x = torch.cat([x.new_zeros(b, h, q, 1), x], dim=-1)
        return x.view(b, h, k + 1, q)[:, :, 1:].reshape(b, h, q, k)

    def forward(self, x, r):
        # r: embeddings of the distances T-1, T-2, ..., 0
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, self.d).unbind(2)
        rk = self.r(r).view(t, self.heads, self.d)
        ac = torch.einsum("bihd,bjhd->bhij", q + self.u, k)
        bd = self.rel_shift(torch.einsum("bihd,jhd->bhij", q + self.v, rk))
        score = (ac + bd) / self.d ** 0.5
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        p = score.masked_fill(hidden, float("-inf")).softmax(-1)
        return self.o(torch.einsum("bhij,bjhd->bihd", p, v).reshape(b, t, -1))


def inputs():
    return torch.randn(2, 5, 12), torch.randn(5, 12)
