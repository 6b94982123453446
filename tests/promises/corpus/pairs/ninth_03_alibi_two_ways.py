# EQUAL
"""ALiBi: BLOOM adds slope * key position, MPT adds slope * (key - query). Softmax does not see the difference."""
import math

import torch


def slopes(heads, like):
    return torch.pow(2.0, -8.0 / heads * torch.arange(1, heads + 1, dtype=like.dtype))


def left(q, k, v):
    b, h, t, d = q.shape
    alibi = slopes(h, q)[None, :, None] * torch.arange(t, dtype=q.dtype)[None, None, :]     # 1 h t
    alibi = alibi.expand(b, h, t).reshape(b * h, 1, t)
    scores = torch.baddbmm(
        alibi.expand(b * h, t, t),
        q.reshape(b * h, t, d),
        k.reshape(b * h, t, d).transpose(1, 2),
        beta=1.0,
        alpha=1.0 / math.sqrt(d),
    ).view(b, h, t, t)
    causal = torch.triu(torch.ones(t, t, dtype=torch.bool), diagonal=1)
    scores = scores.masked_fill(causal, torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1) @ v


def right(q, k, v):
    t = q.shape[-2]
    i = torch.arange(t)[:, None]
    j = torch.arange(t)[None, :]
    bias = -slopes(q.shape[1], q)[:, None, None] * (i - j).to(q.dtype)
    bias = bias.masked_fill(j > i, float("-inf"))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])


def inputs():
    g = torch.Generator().manual_seed(1)
    return tuple(torch.randn(2, 4, 6, 8, generator=g) for _ in range(3))
