# EQUAL.
"""ALiBi: key-position bias (bloom: slope*j) vs distance bias (-slope*(i-j)); softmax forgets a shift per row. EQUAL."""
import torch
import math


def slopes(n):
    start = 2 ** (-8 / n)
    return torch.tensor([start ** (i + 1) for i in range(n)])


def left(q, k, v):
    n = q.size(1)
    T = q.size(2)
    bias = slopes(n)[None, :, None, None].to(q.dtype) * torch.arange(T).to(q.dtype)[None, None, None, :]
    att = torch.baddbmm(
        bias.expand(q.size(0), n, 1, T).reshape(-1, 1, T),
        q.reshape(-1, T, q.size(-1)), k.reshape(-1, T, q.size(-1)).transpose(1, 2),
        beta=1.0, alpha=1 / math.sqrt(q.size(-1)),
    ).view(q.size(0), n, T, T)
    causal = torch.ones(T, T, dtype=torch.bool).triu(1)
    att = att.masked_fill(causal, torch.finfo(att.dtype).min)
    return torch.softmax(att, -1) @ v


def right(q, k, v):
    T = q.shape[-2]
    i, j = torch.arange(T)[:, None], torch.arange(T)
    dist = (i - j).clamp(min=0).to(q.dtype)
    s = q @ k.mT / q.shape[-1] ** 0.5 - slopes(q.shape[1]).to(q.dtype).view(-1, 1, 1) * dist
    s = torch.where(j <= i, s, -torch.inf)
    p = (s - s.amax(-1, keepdim=True)).exp()
    return (p @ v) / p.sum(-1, keepdim=True)


def inputs():
    g = torch.Generator().manual_seed(3)
    return tuple(torch.randn(2, 4, 6, 5, generator=g) for _ in range(3))
