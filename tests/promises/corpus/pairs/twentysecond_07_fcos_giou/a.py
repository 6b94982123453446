"""FCOS' regression branch with the generalised IoU of boxes, in corners (torchvision's ops, spelled out)."""

import torch
from torch import nn
from torch.nn import functional as F


def giou_loss(pred, target, eps=1e-7):
    x1, y1, x2, y2 = pred.unbind(-1)
    x1g, y1g, x2g, y2g = target.unbind(-1)
    left, top = torch.max(x1, x1g), torch.max(y1, y1g)
    right, bottom = torch.min(x2, x2g), torch.min(y2, y2g)
    inter = (right - left).clamp(min=0) * (bottom - top).clamp(min=0)
    union = (x2 - x1) * (y2 - y1) + (x2g - x1g) * (y2g - y1g) - inter
    iou = inter / (union + eps)
    cx1, cy1, cx2, cy2 = torch.min(x1, x1g), torch.min(y1, y1g), torch.max(x2, x2g), torch.max(y2, y2g)
    area_c = (cx2 - cx1) * (cy2 - cy1)
    return 1 - (iou - (area_c - union) / (area_c + eps))


class FCOSRegression(nn.Module):
    def __init__(self, channels=6, stride=8):
        super().__init__()
        self.stride = stride
        self.tower = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, channels)
        self.bbox_reg = nn.Conv2d(channels, 4, 3, padding=1)
        self.scale = nn.Parameter(torch.tensor(0.3))
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, features, reg_targets, foreground):
        """reg_targets [N, HW, 4]: distances left, top, right, bottom; outside of a box some are negative."""
        N, _, H, W = features.shape
        y, x = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
        points = torch.stack([x, y], -1).reshape(-1, 2) * self.stride + self.stride // 2
        reg = torch.exp(self.scale * self.bbox_reg(F.relu(self.norm(self.tower(features)))))
        reg = reg.permute(0, 2, 3, 1).reshape(N, H * W, 4)
        dist = reg_targets.clamp(min=0)
        pred = torch.cat([points - reg[..., :2], points + reg[..., 2:]], -1)
        goal = torch.cat([points - dist[..., :2], points + dist[..., 2:]], -1)
        loss = giou_loss(pred, goal)
        return (loss * foreground).sum() / foreground.sum().clamp(min=1)


def inputs():
    return torch.randn(2, 6, 4, 5), 2 * torch.randn(2, 20, 4), torch.rand(2, 20) < 0.6
