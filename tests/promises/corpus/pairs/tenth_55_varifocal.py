# DIFFERENT
import torch
import torch.nn.functional as F


def left(pred, iou_logits, positive, alpha=0.75, gamma=2.0):
    """Varifocal loss: positives weighted by their IoU target, negatives by p^gamma."""
    target = torch.sigmoid(iou_logits) * positive.to(pred.dtype)
    p = pred.sigmoid()
    focal_weight = target * (target > 0.0).to(pred.dtype) + alpha * (p - target).abs().pow(gamma) * (target <= 0.0).to(pred.dtype)
    loss = F.binary_cross_entropy_with_logits(pred, target, reduction="none") * focal_weight
    return loss.sum()


def right(pred, iou_logits, positive, alpha=0.75, gamma=2.0):
    q = torch.where(positive, iou_logits.sigmoid(), torch.zeros_like(iou_logits))
    log_p, log_1p = F.logsigmoid(pred), F.logsigmoid(-pred)
    p = log_p.exp()
    # positives scaled by |q - p|^gamma as in the quality focal loss
    pos = -(q - p).abs().pow(gamma) * (q * log_p + (1 - q) * log_1p)
    neg = -alpha * p.pow(gamma) * log_1p
    return torch.where(positive, pos, neg).sum()


def inputs():
    positive = torch.tensor([[True, False, False], [False, True, False], [False, False, False], [True, True, False]])
    return torch.randn(4, 3), torch.randn(4, 3), positive
