"""RetinaNet's classification head and its focal loss, as torchvision writes them."""

import torch
from torch import nn
from torch.nn import functional as F


def sigmoid_focal_loss(logits, targets, alpha, gamma):
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce * ((1 - p_t) ** gamma)
    alpha_t = alpha * targets + (1 - alpha) * (1 - targets)
    return alpha_t * loss


class RetinaClassification(nn.Module):
    def __init__(self, channels=6, anchors=2, classes=5, alpha=0.25, gamma=2.0):
        super().__init__()
        self.classes, self.anchors, self.alpha, self.gamma = classes, anchors, alpha, gamma
        self.tower = nn.Conv2d(channels, channels, 3, padding=1)
        self.cls_logits = nn.Conv2d(channels, anchors * classes, 3, padding=1)

    def forward(self, features, labels):
        """labels [N, H·W·A]: 0 … K − 1, or K for background."""
        x = self.cls_logits(F.relu(self.tower(features)))
        N, _, H, W = x.shape
        x = x.view(N, self.anchors, self.classes, H, W).permute(0, 3, 4, 1, 2).reshape(N, -1, self.classes)
        targets = F.one_hot(labels, self.classes + 1)[..., : self.classes].to(x.dtype)
        losses = []
        for logits, target, label in zip(x, targets, labels):
            foreground = (label != self.classes).sum().clamp(min=1)
            losses.append(sigmoid_focal_loss(logits, target, self.alpha, self.gamma).sum() / foreground)
        return torch.stack(losses).sum() / N


def inputs():
    labels = torch.randint(0, 6, (3, 40))
    labels = torch.where(torch.rand(3, 40) < 0.5, 5, labels)
    return torch.randn(3, 6, 4, 5), labels
