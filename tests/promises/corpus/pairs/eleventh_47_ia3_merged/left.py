import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, dim=8, heads=2, hidden=16):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(dim, dim) for _ in range(4))
        self.wi, self.wo = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.l_k = nn.Parameter(1 + 0.3 * torch.randn(dim))
        self.l_v = nn.Parameter(1 + 0.3 * torch.randn(dim))
        self.l_ff = nn.Parameter(1 + 0.3 * torch.randn(hidden))

    def forward(self, x):
        b, t, d = x.shape
        split = lambda y: y.view(b, t, self.heads, -1).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x) * self.l_k), split(self.value(x) * self.l_v)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d))
        return x + self.wo(F.relu(self.wi(x)) * self.l_ff)


def inputs():
    return (torch.randn(2, 5, 8),)
