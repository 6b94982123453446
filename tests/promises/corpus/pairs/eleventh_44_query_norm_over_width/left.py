import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, dim=12, heads=3, hidden=20):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.input_norm, self.post_norm = nn.RMSNorm(dim, eps=1e-6), nn.RMSNorm(dim, eps=1e-6)
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.q_norm, self.k_norm = nn.RMSNorm(self.size, eps=1e-6), nn.RMSNorm(self.size, eps=1e-6)
        self.gate, self.up = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)
        for norm in (self.input_norm, self.post_norm, self.q_norm, self.k_norm):
            nn.init.normal_(norm.weight, 1.0, 0.3)

    def forward(self, x):
        b, t, d = x.shape
        y = self.input_norm(x)
        q = self.q_norm(self.q_proj(y).view(b, t, self.heads, self.size)).transpose(1, 2)
        k = self.k_norm(self.k_proj(y).view(b, t, self.heads, self.size)).transpose(1, 2)
        v = self.v_proj(y).view(b, t, self.heads, self.size).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o_proj(y.transpose(1, 2).reshape(b, t, d))
        y = self.post_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def inputs():
    return (torch.randn(2, 5, 12),)
