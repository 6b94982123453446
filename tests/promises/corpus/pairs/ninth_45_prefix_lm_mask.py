# DIFFERENT
import torch
import torch.nn.functional as F

PREFIX = 3


def left(q, k, v):
    t = q.shape[-2]
    i, j = torch.arange(t).view(-1, 1), torch.arange(t).view(1, -1)
    allowed = (j <= i) | (j < PREFIX)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)


def right(q, k, v):
    t = q.shape[-2]
    mask = torch.full((t, t), -1e9, dtype=q.dtype).triu(diagonal=1)
    mask[:, : PREFIX - 1] = 0
    logits = torch.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5 + mask
    return torch.einsum("...ij,...jd->...id", logits.softmax(-1), v)


def inputs():
    g = torch.Generator().manual_seed(18)
    return [torch.randn(2, 2, 7, 4, generator=g) for _ in range(3)]


inputs = tuple(inputs())
