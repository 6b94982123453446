"""Decoding the boxes of one level of an anchor-based detection head."""
import torch
from torch import nn

STRIDE = 8
SIZES = ((16.0, 16.0), (32.0, 16.0), (16.0, 32.0))


class Head(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.reg = nn.Conv2d(channels, 4 * len(SIZES), 1)

    def forward(self, feature):
        b, _, h, w = feature.shape
        deltas = self.reg(feature).view(b, len(SIZES), 4, h, w).permute(0, 3, 4, 1, 2).reshape(b, -1, 4)
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        centre = (torch.stack([xs, ys], dim=-1).reshape(-1, 1, 2) + 0.5) * STRIDE
        size = torch.tensor(SIZES)
        anchors = torch.cat([centre.expand(-1, len(SIZES), 2), size.expand(h * w, -1, 2)], dim=-1).reshape(-1, 4)
        xy = anchors[:, :2] + deltas[..., :2] * anchors[:, 2:]
        wh = anchors[:, 2:] * deltas[..., 2:].clamp(max=4.0).exp()
        return torch.cat([xy - wh / 2, xy + wh / 2], dim=-1)


class Port(Head):
    def forward(self, feature):
        b, _, h, w = feature.shape
        deltas = self.reg(feature).permute(0, 2, 3, 1).reshape(b, h * w, len(SIZES), 4)
        gx, gy = torch.meshgrid(torch.arange(w), torch.arange(h), indexing="ij")
        centre = torch.stack([gx.flatten(), gy.flatten()], dim=-1)[:, None, :] * STRIDE + STRIDE / 2
        size = torch.tensor(SIZES)[None]
        xy = centre + deltas[..., :2] * size
        half = 0.5 * size * torch.exp(torch.clamp(deltas[..., 2:], max=4.0))
        return torch.cat([xy - half, xy + half], dim=-1).flatten(1, 2)


left = Head
right = Port
inputs = (torch.randn(2, 6, 3, 5),)
