"""The focal loss of a detector head: torchvision's, and one split into positives and negatives."""
import torch
from torch.nn import functional as F

ALPHA, GAMMA = 0.25, 2
B, ANCHORS, K = 2, 7, 4


def left(inputs, targets):
    p = torch.sigmoid(inputs)
    ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce_loss * ((1 - p_t) ** GAMMA)
    alpha_t = ALPHA * targets + (1 - ALPHA) * (1 - targets)
    loss = alpha_t * loss
    num_foreground = targets.sum(dim=(1, 2)).clamp(min=1)
    return (loss.sum(dim=(1, 2)) / num_foreground).mean()


def right(inputs, targets):
    p = inputs.sigmoid()
    positive = ALPHA * (1 - p).square() * F.softplus(-inputs)
    negative = (1 - ALPHA) * p.square() * F.softplus(inputs)
    loss = torch.where(targets > 0.5, positive, negative)
    per_image = loss.flatten(1).sum(1) / targets.flatten(1).sum(1).clamp(min=1)
    return per_image.sum() / inputs.shape[0]


def inputs():
    return torch.randn(B, ANCHORS, K), (torch.rand(B, ANCHORS, K) < 0.2).to(torch.get_default_dtype())
