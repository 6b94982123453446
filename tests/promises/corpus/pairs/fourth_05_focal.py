# EQUAL
"""RetinaNet's classification loss: torchvision.ops.sigmoid_focal_loss (copied) and the one in our old detector."""
import torch
import torch.nn.functional as F

NUM_CLASSES = 7


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(inputs)
    ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce_loss * ((1 - p_t) ** gamma)
    if alpha >= 0:
        alpha_t = alpha * targets + (1 - alpha) * (1 - targets)
        loss = alpha_t * loss
    return loss.sum()


def left(logits, labels):
    # class NUM_CLASSES is the background
    onehot = F.one_hot(labels, NUM_CLASSES + 1)[..., :-1].to(logits.dtype)
    foreground = (labels < NUM_CLASSES).sum().clamp(min=1)
    return sigmoid_focal_loss(logits, onehot) / foreground


def right(logits, labels):
    alpha = 0.25
    hit = labels.unsqueeze(-1) == torch.arange(NUM_CLASSES)
    q = logits.sigmoid()
    positive = -alpha * (1 - q).square() * F.logsigmoid(logits)
    negative = -(1 - alpha) * q.square() * F.logsigmoid(-logits)
    per_anchor = torch.where(hit, positive, negative).sum(-1)
    n = torch.clamp((labels != NUM_CLASSES).sum(), min=1)
    return per_anchor.sum() / n


def inputs():
    return torch.randn(2, 20, NUM_CLASSES) * 2, torch.randint(0, NUM_CLASSES + 1, (2, 20))
