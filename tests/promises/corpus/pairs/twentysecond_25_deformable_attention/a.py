"""Multi-scale deformable attention as in Deformable DETR's PyTorch path: grid_sample level by level."""

import torch
from torch import nn
from torch.nn import functional as F

SHAPES = ((5, 6), (3, 4))


class DeformableAttention(nn.Module):
    def __init__(self, dim=8, heads=2, points=3, shapes=SHAPES):
        super().__init__()
        self.heads, self.points, self.shapes = heads, points, shapes
        levels = len(shapes)
        self.sampling_offsets = nn.Linear(dim, heads * levels * points * 2)
        self.attention_weights = nn.Linear(dim, heads * levels * points)
        self.value_proj = nn.Linear(dim, dim)
        self.output_proj = nn.Linear(dim, dim)

    def forward(self, query, reference, value):
        """query [B, Q, dim], reference [B, Q, 2] in 0 … 1 (x, y), value [B, ΣHW, dim]."""
        B, Q, dim = query.shape
        L, M, P = len(self.shapes), self.heads, self.points
        value = self.value_proj(value).view(B, -1, M, dim // M)
        offsets = self.sampling_offsets(query).view(B, Q, M, L, P, 2)
        weights = self.attention_weights(query).view(B, Q, M, L * P).softmax(-1).view(B, Q, M, L, P)
        normalizer = torch.tensor([(w, h) for h, w in self.shapes])
        locations = reference[:, :, None, None, None] + offsets / normalizer[:, None, :]
        grids = 2 * locations - 1
        sampled = []
        for level, (values, (H, W)) in enumerate(zip(value.split([h * w for h, w in self.shapes], dim=1), self.shapes)):
            maps = values.flatten(2).transpose(1, 2).reshape(B * M, dim // M, H, W)
            grid = grids[:, :, :, level].transpose(1, 2).flatten(0, 1)             # [B·M, Q, P, 2]
            sampled.append(F.grid_sample(maps, grid, mode="bilinear", padding_mode="zeros", align_corners=False))
        weights = weights.transpose(1, 2).reshape(B * M, 1, Q, L * P)
        out = (torch.stack(sampled, dim=-2).flatten(-2) * weights).sum(-1).view(B, dim, Q)
        return self.output_proj(out.transpose(1, 2))


def inputs():
    return torch.randn(2, 4, 8), torch.rand(2, 4, 2), torch.randn(2, 42, 8)
