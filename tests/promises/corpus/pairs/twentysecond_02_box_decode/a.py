"""torchvision's RPN: head and BoxCoder.decode, with the clamp of dw and dh at log(1000 / 16)."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class RPNHead(nn.Module):
    def __init__(self, channels=6, anchors=3):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.cls_logits = nn.Conv2d(channels, anchors, 1)
        self.bbox_pred = nn.Conv2d(channels, 4 * anchors, 1)

    def forward(self, x):
        t = F.relu(self.conv(x))
        return self.cls_logits(t), self.bbox_pred(t)


def base_anchors(size=16.0, ratios=(0.5, 1.0, 2.0)):
    ratios = torch.tensor(ratios)
    hs = size * ratios.sqrt()
    ws = size / ratios.sqrt()
    return torch.stack([-ws, -hs, ws, hs], 1) / 2


class RegionProposals(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = RPNHead()
        self.stride = 8
        self.clip = math.log(1000.0 / 16)
        self.register_buffer("cell", base_anchors())

    def anchors(self, H, W):
        shift_x = torch.arange(W) * self.stride
        shift_y = torch.arange(H) * self.stride
        y, x = torch.meshgrid(shift_y, shift_x, indexing="ij")
        shifts = torch.stack([x, y, x, y], -1).reshape(-1, 1, 4)
        return (shifts + self.cell).reshape(-1, 4)

    def decode(self, deltas, boxes):
        widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
        ctr_x, ctr_y = boxes[:, 0] + 0.5 * widths, boxes[:, 1] + 0.5 * heights
        dx, dy, dw, dh = deltas.unbind(-1)
        dw = torch.clamp(dw, max=self.clip)
        dh = torch.clamp(dh, max=self.clip)
        x, y = dx * widths + ctr_x, dy * heights + ctr_y
        w, h = dw.exp() * widths, dh.exp() * heights
        return torch.stack([x - 0.5 * w, y - 0.5 * h, x + 0.5 * w, y + 0.5 * h], -1)

    def forward(self, features):
        logits, deltas = self.head(features)
        N, _, H, W = features.shape
        deltas = deltas.view(N, -1, 4, H, W).permute(0, 3, 4, 1, 2).reshape(N, -1, 4)
        scores = logits.permute(0, 2, 3, 1).reshape(N, -1).sigmoid()
        return self.decode(deltas, self.anchors(H, W)), scores


def inputs():
    return (3 * torch.randn(2, 6, 4, 5),)
