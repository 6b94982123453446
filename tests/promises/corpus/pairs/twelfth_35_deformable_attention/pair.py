"""Deformable attention over one feature map (Deformable DETR)."""
import torch
from torch import nn
from torch.nn import functional as F

DIM, HEADS, POINTS = 8, 2, 3


class GridSampleAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.value_proj = nn.Linear(DIM, DIM)
        self.sampling_offsets = nn.Linear(DIM, HEADS * POINTS * 2)
        self.attention_weights = nn.Linear(DIM, HEADS * POINTS)
        self.output_proj = nn.Linear(DIM, DIM)

    def plan(self, query, reference, h, w):
        b, n, _ = query.shape
        offsets = self.sampling_offsets(query).view(b, n, HEADS, POINTS, 2)
        weights = self.attention_weights(query).view(b, n, HEADS, POINTS).softmax(-1)
        size = torch.tensor([w, h], dtype=query.dtype)
        return torch.sigmoid(reference)[:, :, None, None] + offsets / size, weights

    def forward(self, query, reference, feature):
        b, n, _ = query.shape
        h, w = feature.shape[1:3]
        value = self.value_proj(feature).view(b, h * w, HEADS, DIM // HEADS)
        locations, weights = self.plan(query, reference, h, w)
        value = value.flatten(2).transpose(1, 2).reshape(b * HEADS, DIM // HEADS, h, w)
        grid = (2 * locations - 1).transpose(1, 2).flatten(0, 1)
        sampled = F.grid_sample(value, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
        weights = weights.transpose(1, 2).reshape(b * HEADS, 1, n, POINTS)
        out = (sampled * weights).sum(-1).view(b, DIM, n).transpose(1, 2)
        return self.output_proj(out)


class GatherAttention(GridSampleAttention):
    """Without grid_sample, for a backend that lacks it."""

    def forward(self, query, reference, feature):
        b, n, _ = query.shape
        h, w = feature.shape[1:3]
        value = self.value_proj(feature).view(b, h * w, HEADS, -1).transpose(1, 2)
        locations, weights = self.plan(query, reference, h, w)
        x = (locations[..., 0] * w - 0.5).transpose(1, 2)
        y = (locations[..., 1] * h - 0.5).transpose(1, 2)
        x0, y0 = x.floor(), y.floor()
        sampled = 0
        for dy in (0, 1):
            for dx in (0, 1):
                xi, yi = x0 + dx, y0 + dy
                share = (1 - (x - xi).abs()) * (1 - (y - yi).abs())
                inside = (xi >= 0) & (xi < w) & (yi >= 0) & (yi < h)
                index = (yi.clamp(0, h - 1) * w + xi.clamp(0, w - 1)).long().flatten(2)
                corner = value.gather(2, index[..., None].expand(-1, -1, -1, DIM // HEADS))
                sampled = sampled + corner.unflatten(2, (n, POINTS)) * (share * inside)[..., None]
        out = torch.einsum("bhnpd,bnhp->bnhd", sampled, weights)
        return self.output_proj(out.flatten(2))


left = GridSampleAttention
right = GatherAttention


def inputs():
    return torch.randn(2, 5, DIM), torch.randn(2, 5, 2), torch.randn(2, 4, 6, DIM)
