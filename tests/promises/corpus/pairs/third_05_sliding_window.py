# EQUAL: Sliding window attention: mask over the full matrix vs per-position slices of the last W keys
import torch
import torch.nn.functional as F

W = 3


def left(q, k, v):
    t = q.shape[-2]
    i = torch.arange(t)
    delta = i[:, None] - i[None, :]
    mask = (delta >= 0) & (delta < W)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def right(q, k, v):
    outs = []
    scale = q.size(-1) ** -0.5
    for t in range(q.size(-2)):
        lo = max(0, t - W + 1)
        kt, vt = k[:, :, lo : t + 1], v[:, :, lo : t + 1]
        w = torch.softmax((q[:, :, t : t + 1] * scale) @ kt.mT, dim=-1)
        outs.append(w @ vt)
    return torch.cat(outs, dim=2)


def inputs():
    return torch.randn(2, 2, 8, 4), torch.randn(2, 2, 8, 4), torch.randn(2, 2, 8, 4)
