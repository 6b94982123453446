"""MPT-style ALiBi (relative distance) against BLOOM's (key position only)."""
import math

import torch
from torch.nn import functional as F

HEADS = 4
SLOPES = [2.0 ** (-8.0 * (h + 1) / HEADS) for h in range(HEADS)]


def left(q, k, v):
    t = q.shape[-2]
    pos = torch.arange(t)
    distance = (pos[None, :] - pos[:, None]).to(q.dtype)
    bias = torch.tensor(SLOPES, dtype=q.dtype).view(1, HEADS, 1, 1) * distance
    bias = bias.masked_fill(pos[None, :] > pos[:, None], float("-inf"))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(q.shape[0], -1, -1, -1))


def right(q, k, v):
    b, h, t, d = q.shape
    alibi = torch.tensor(SLOPES, dtype=q.dtype)[:, None, None] * torch.arange(t, dtype=q.dtype)[None, None, :]
    alibi = alibi.repeat(b, 1, 1)
    scores = torch.baddbmm(alibi, q.reshape(b * h, t, d), k.reshape(b * h, t, d).transpose(1, 2), beta=1.0, alpha=1 / math.sqrt(d))
    mask = torch.triu(torch.ones(t, t, dtype=torch.bool), diagonal=1)
    p = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
    return torch.bmm(p, v.reshape(b * h, t, -1)).view(b, h, t, -1)


inputs = (torch.randn(2, HEADS, 6, 8), torch.randn(2, HEADS, 6, 8), torch.randn(2, HEADS, 6, 8))
