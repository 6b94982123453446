import math

import torch
from torch import nn
from torch.nn import functional as F


class Left(nn.Module):
    def __init__(self, dim=12, heads=3, inner=20):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(dim)
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(dim, dim, bias=False)
        self.fc_in, self.fc_out = nn.Linear(dim, inner), nn.Linear(inner, dim)
        nn.init.normal_(self.ln_1.weight, 1.0, 0.2)
        nn.init.normal_(self.ln_1.bias, 0.0, 0.2)

    def attention(self, x):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        weights = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(d // self.heads)
        causal = torch.tril(torch.ones(t, t, dtype=torch.bool, device=x.device))
        weights = torch.where(causal, weights, torch.finfo(x.dtype).min).softmax(-1)
        return self.out_proj(torch.matmul(weights, v).transpose(1, 2).reshape(b, t, d))

    def forward(self, hidden):
        residual = hidden
        hidden = self.ln_1(hidden)
        feed_forward = self.fc_out(F.gelu(self.fc_in(hidden), approximate="tanh"))
        return self.attention(hidden) + feed_forward + residual


def inputs():
    return (torch.randn(2, 5, 12),)
