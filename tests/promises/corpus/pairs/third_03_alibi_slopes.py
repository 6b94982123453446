# DIFFERENT: ALiBi with 6 heads: BLOOM's interleaved slopes vs the plain 2^(-8i/n) formula that holds for powers of two only
import math
import torch
import torch.nn.functional as F


def bloom_slopes(n):
    p = 2 ** math.floor(math.log2(n))
    base = 2 ** (-(2 ** -(math.log2(p) - 3)))
    slopes = [base ** (i + 1) for i in range(p)]
    if p != n:
        extra = 2 ** (-(2 ** -(math.log2(2 * p) - 3)))
        slopes += [extra ** (2 * i + 1) for i in range(n - p)]
    return torch.tensor(slopes)


def left(q, k, v):
    b, h, t, d = q.shape
    bias = bloom_slopes(h).to(q.dtype)[:, None, None] * torch.arange(t).to(q.dtype)[None, None, :]
    s = q @ k.transpose(-1, -2) / math.sqrt(d) + bias
    s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
    return s.softmax(-1) @ v


def right(q, k, v):
    h, t = q.shape[1], q.shape[2]
    slopes = 2.0 ** (-8.0 * torch.arange(1, h + 1).to(q.dtype) / h)
    pos = torch.arange(t)
    dist = (pos[None, :] - pos[:, None]).to(q.dtype)
    bias = slopes.view(h, 1, 1) * dist
    bias = bias.masked_fill(dist > 0, float("-inf"))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


def inputs():
    return tuple(torch.randn(2, 6, 8, 4) for _ in range(3))
