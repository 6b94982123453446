# EQUAL. last position of a whole prefill vs one decode step from a cache filled by the first T-1 tokens
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, d=16, h=2):
        super().__init__()
        self.h = h
        self.ln = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d)

    def proj(self, x):
        q, k, v = self.qkv(self.ln(x)).chunk(3, -1)
        f = lambda t: t.view(*t.shape[:2], self.h, -1).transpose(1, 2)
        return f(q), f(k), f(v)

    def prefill(self, x):
        q, k, v = self.proj(x)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(o.transpose(1, 2).flatten(2)), (k, v)

    def step(self, x, cache):
        q, k, v = self.proj(x)
        k = torch.cat([cache[0], k], 2)
        v = torch.cat([cache[1], v], 2)
        o = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(o.transpose(1, 2).flatten(2)), (k, v)


torch.manual_seed(0)
layers = nn.ModuleList([Block(), Block()])


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        for l in self.layers:
            x, _ = l.prefill(x)
        return x[:, -1:]


class Stepwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        past, caches = x[:, :-1], []
        for l in self.layers:
            past, c = l.prefill(past)
            caches.append(c)
        x = x[:, -1:]
        for i, l in enumerate(self.layers):
            x, caches[i] = l.step(x, caches[i])
        return x


left, right = Whole(), Stepwise()
inputs = (torch.randn(2, 6, 16),)
