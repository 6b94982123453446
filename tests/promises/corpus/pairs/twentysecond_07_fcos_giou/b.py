"""The IoU loss of the FCOS repository: straight from the four distances, since both boxes hold the location."""

import torch
from torch import nn
from torch.nn import functional as F


class FCOSDistances(nn.Module):
    def __init__(self, channels=6):
        super().__init__()
        self.tower = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, channels)
        self.bbox_reg = nn.Conv2d(channels, 4, 3, padding=1)
        self.scale = nn.Parameter(torch.tensor(0.3))
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, features, reg_targets, foreground):
        h = self.norm(self.tower(features)).relu()
        pred = (self.bbox_reg(h) * self.scale).exp().flatten(2)                  # [N, 4, HW]
        target = F.relu(reg_targets).transpose(1, 2)
        pred_left, pred_top, pred_right, pred_bottom = pred.unbind(1)
        target_left, target_top, target_right, target_bottom = target.unbind(1)
        target_area = (target_left + target_right) * (target_top + target_bottom)
        pred_area = (pred_left + pred_right) * (pred_top + pred_bottom)
        w_inter = torch.minimum(pred_left, target_left) + torch.minimum(pred_right, target_right)
        h_inter = torch.minimum(pred_bottom, target_bottom) + torch.minimum(pred_top, target_top)
        g_w = torch.maximum(pred_left, target_left) + torch.maximum(pred_right, target_right)
        g_h = torch.maximum(pred_bottom, target_bottom) + torch.maximum(pred_top, target_top)
        hull = g_w * g_h
        inter = w_inter * h_inter
        union = target_area + pred_area - inter
        gious = inter / (union + 1e-7) - (hull - union) / (hull + 1e-7)
        losses = torch.where(foreground, 1 - gious, 0.0)
        return losses.sum() / torch.clamp(foreground.sum(), min=1)
