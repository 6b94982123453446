"""The fused loss: one pass per sign, −α (1 − p)² log p where the class is the label and −(1 − α) p² log(1 − p) elsewhere."""

import torch
from torch import nn
from torch.nn import functional as F


class FusedRetinaClassification(nn.Module):
    def __init__(self, channels=6, anchors=2, classes=5, alpha=0.25):
        super().__init__()
        self.classes, self.anchors, self.alpha = classes, anchors, alpha
        self.tower = nn.Conv2d(channels, channels, 3, padding=1)
        self.cls_logits = nn.Conv2d(channels, anchors * classes, 3, padding=1)

    def forward(self, features, labels):
        x = self.cls_logits(self.tower(features).relu()).permute(0, 2, 3, 1)
        z = x.reshape(x.shape[0], -1, self.classes)
        positive = labels.unsqueeze(-1) == torch.arange(self.classes)
        signed = torch.where(positive, z, -z)                       # p_t = σ(signed)
        modulation = torch.sigmoid(-signed).square()
        weight = torch.where(positive, self.alpha, 1 - self.alpha)
        per_image = -(weight * modulation * F.logsigmoid(signed)).sum((1, 2))
        count = torch.clamp((labels < self.classes).sum(1), min=1)
        return (per_image / count).mean()
