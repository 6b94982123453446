# DIFFERENT.
"""LoRA merged into a fused qkv. DIFFERENT: adapter was trained rank-stabilised (alpha/sqrt(r)) and merged with alpha/r;
shows in q and v only."""
import math
import torch
import torch.nn as nn

R, ALPHA, D = 4, 8, 12


class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))
        self.Aq, self.Av = nn.Parameter(torch.randn(R, D) * .02), nn.Parameter(torch.randn(R, D) * .02)
        self.Bq, self.Bv = nn.Parameter(torch.randn(D, R) * .02), nn.Parameter(torch.randn(D, R) * .02)

    def forward(self, x):
        s = ALPHA / math.sqrt(R)
        return self.q(x) + s * (x @ self.Aq.T @ self.Bq.T), self.k(x), self.v(x) + s * (x @ self.Av.T) @ self.Bv.T


class Merged(nn.Module):
    def __init__(self, a):
        super().__init__()
        s = ALPHA / R
        with torch.no_grad():
            w = torch.cat([a.q.weight + s * a.Bq @ a.Aq, a.k.weight, a.v.weight + s * a.Bv @ a.Av])
            b = torch.cat([a.q.bias, a.k.bias, a.v.bias])
        self.qkv = nn.Linear(D, 3 * D)
        self.qkv.weight.data, self.qkv.bias.data = w, b

    def forward(self, x):
        return tuple(self.qkv(x).split(D, -1))


left = Adapter()
right = Merged(left)
inputs = (torch.randn(5, D),)
