"""The same for an exporter without grid_sample: the four corners are gathered and weighted by hand, outside counts 0."""

import torch
from torch import nn


class GatheredDeformableAttention(nn.Module):
    def __init__(self, dim=8, heads=2, points=3, shapes=((5, 6), (3, 4))):
        super().__init__()
        self.heads, self.points, self.shapes = heads, points, shapes
        levels = len(shapes)
        self.sampling_offsets = nn.Linear(dim, heads * levels * points * 2)
        self.attention_weights = nn.Linear(dim, heads * levels * points)
        self.value_proj = nn.Linear(dim, dim)
        self.output_proj = nn.Linear(dim, dim)

    @staticmethod
    def corner(values, ix, iy, H, W):
        """values [B, M, HW, d] at whole numbers ix, iy [B, M, Q, P]; 0 outside → [B, M, Q, P, d]."""
        B, M, Q, P = ix.shape
        inside = (ix >= 0) & (ix < W) & (iy >= 0) & (iy < H)
        index = iy.clamp(0, H - 1).long() * W + ix.clamp(0, W - 1).long()
        rows = index.reshape(B, M, Q * P, 1).expand(-1, -1, -1, values.shape[-1])
        return values.gather(2, rows).view(B, M, Q, P, -1) * inside[..., None]

    def forward(self, query, reference, value):
        B, Q, dim = query.shape
        L, M, P = len(self.shapes), self.heads, self.points
        value = self.value_proj(value).view(B, -1, M, dim // M).transpose(1, 2)        # [B, M, ΣHW, d]
        offsets = self.sampling_offsets(query).view(B, Q, M, L, P, 2).transpose(1, 2)  # [B, M, Q, L, P, 2]
        weights = torch.softmax(self.attention_weights(query).view(B, Q, M, L * P), -1)
        weights = weights.view(B, Q, M, L, P).transpose(1, 2)
        out, start = 0, 0
        for level, (H, W) in enumerate(self.shapes):
            values = value[:, :, start : start + H * W]
            start += H * W
            x = reference[:, None, :, None, 0] * W + offsets[:, :, :, level, :, 0] - 0.5
            y = reference[:, None, :, None, 1] * H + offsets[:, :, :, level, :, 1] - 0.5
            x0, y0 = x.floor(), y.floor()
            fx, fy = x - x0, y - y0
            for dx, wx in ((0, 1 - fx), (1, fx)):
                for dy, wy in ((0, 1 - fy), (1, fy)):
                    corner = self.corner(values, x0 + dx, y0 + dy, H, W)
                    out = out + (corner * (wx * wy * weights[:, :, :, level])[..., None]).sum(3)
        return self.output_proj(out.transpose(1, 2).flatten(2))
