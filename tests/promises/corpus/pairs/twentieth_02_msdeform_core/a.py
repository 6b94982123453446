"""Core of multi-scale deformable attention as in Deformable DETR's pure PyTorch fallback."""
import torch
from torch.nn import functional as F

SHAPES = ((3, 4), (2, 2))


def by_grid_sample(value, locations, logits):
    """value [B, S, H, D], locations [B, Q, H, L, P, 2] in 0..1, logits [B, Q, H, L·P]."""
    batch, _, heads, size = value.shape
    _, queries, _, levels, points, _ = locations.shape
    attention = logits.softmax(-1).view(batch, queries, heads, levels, points)
    per_level = value.split([h * w for h, w in SHAPES], dim=1)
    grids = 2 * locations - 1
    sampled = []
    for level, (h, w) in enumerate(SHAPES):
        image = per_level[level].flatten(2).transpose(1, 2).reshape(batch * heads, size, h, w)
        grid = grids[:, :, :, level].transpose(1, 2).flatten(0, 1)
        sampled.append(F.grid_sample(image, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
    attention = attention.transpose(1, 2).reshape(batch * heads, 1, queries, levels * points)
    out = (torch.stack(sampled, dim=-2).flatten(-2) * attention).sum(-1)
    return out.view(batch, heads * size, queries).transpose(1, 2).contiguous()


def inputs():
    total = sum(h * w for h, w in SHAPES)
    return torch.randn(2, total, 2, 3), torch.rand(2, 5, 2, 2, 3, 2), torch.randn(2, 5, 2, 6)
