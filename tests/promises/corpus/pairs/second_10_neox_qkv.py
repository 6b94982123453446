# EQUAL.
"""GPT-NeoX qkv fused per head ([head, (q k v), hd]) with partial rotary, vs three linears. EQUAL."""
import torch
from torch import nn
import torch.nn.functional as F


def rope(x, nrot):
    T = x.shape[-2]
    inv = 10000.0 ** (-torch.arange(0, nrot, 2).to(x.dtype) / nrot)
    f = torch.arange(T).to(x.dtype)[:, None] * inv
    c, s = torch.cat([f, f], -1).cos(), torch.cat([f, f], -1).sin()
    r, p = x[..., :nrot], x[..., nrot:]
    a, b = r.chunk(2, -1)
    return torch.cat([r * c + torch.cat([-b, a], -1) * s, p], -1)


class NeoX(nn.Module):
    def __init__(self, d=24, h=3):
        super().__init__()
        self.h, self.hd = h, d // h
        self.query_key_value = nn.Linear(d, 3 * d)
        self.dense = nn.Linear(d, d)

    def forward(self, x):
        B, T, D = x.shape
        qkv = self.query_key_value(x).view(B, T, self.h, 3 * self.hd)
        q = qkv[..., : self.hd].permute(0, 2, 1, 3)
        k = qkv[..., self.hd: 2 * self.hd].permute(0, 2, 1, 3)
        v = qkv[..., 2 * self.hd:].permute(0, 2, 1, 3)
        q, k = rope(q, 4), rope(k, 4)
        s = q @ k.transpose(-1, -2) / self.hd ** 0.5
        s = torch.where(torch.tril(torch.ones(T, T, dtype=torch.bool)), s, torch.finfo(s.dtype).min)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))


class Split(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.h, self.hd = src.h, src.hd
        d = src.h * src.hd
        w = src.query_key_value.weight.data.view(self.h, 3, self.hd, d)
        b = src.query_key_value.bias.data.view(self.h, 3, self.hd)
        self.lins = nn.ModuleDict()
        for i, n in enumerate("qkv"):
            l = nn.Linear(d, d)
            l.weight.data = w[:, i].reshape(d, d).clone()
            l.bias.data = b[:, i].reshape(d).clone()
            self.lins[n] = l
        self.dense = nn.Linear(d, d)
        self.dense.load_state_dict(src.dense.state_dict())

    def forward(self, x):
        q, k, v = (self.lins[n](x).unflatten(-1, (self.h, self.hd)).transpose(1, 2) for n in "qkv")
        y = F.scaled_dot_product_attention(rope(q, 4), rope(k, 4), v, is_causal=True)
        return self.dense(y.transpose(1, 2).flatten(2))


left = NeoX()
right = Split(left)
inputs = {"x": torch.randn(2, 6, 24)}
