# EQUAL.
"""Streaming attention: 2 sink tokens + causal window of 4, as one mask vs per query slices. EQUAL."""
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

SINK, WIN = 2, 4


def left(q, k, v):
    T = q.shape[2]
    r = torch.arange(T)
    causal = r[None] <= r[:, None]
    near = r[None] > r[:, None] - WIN
    return sdpa(q, k, v, attn_mask=causal & (near | (r < SINK)[None]))


def right(q, k, v):
    rows = []
    for t in range(q.shape[2]):
        lo = max(0, t - WIN + 1)
        if lo <= SINK:
            kk, vv = k[:, :, : t + 1], v[:, :, : t + 1]
        else:
            kk = torch.cat([k[:, :, :SINK], k[:, :, lo: t + 1]], 2)
            vv = torch.cat([v[:, :, :SINK], v[:, :, lo: t + 1]], 2)
        s = (q[:, :, t: t + 1] * kk).sum(-1) * q.shape[-1] ** -0.5
        p = torch.softmax(s, -1)
        rows.append((p.unsqueeze(-1) * vv).sum(2, keepdim=True))
    return torch.cat(rows, 2)


inputs = (torch.randn(2, 3, 9, 4), torch.randn(2, 3, 9, 4), torch.randn(2, 3, 9, 4))
