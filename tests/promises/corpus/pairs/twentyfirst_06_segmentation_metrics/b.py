"""The same metrics from true and false positives by one-hot masks: no dynamic shapes, so that it compiles."""
import torch
from torch.nn import functional as F

CLASSES, IGNORE = 4, -1


def metrics(logits, target):
    valid = (target != IGNORE).to(logits.dtype)
    truth = F.one_hot(target.clamp(min=0), CLASSES).to(logits.dtype) * valid[..., None]
    guess = F.one_hot(logits.argmax(dim=1), CLASSES).to(logits.dtype) * valid[..., None]
    dims = (0, 1, 2)
    tp = (truth * guess).sum(dims)
    fp = (guess * (1 - truth)).sum(dims)
    fn = (truth * (1 - guess)).sum(dims)
    support = tp + fn
    total = valid.sum()
    one = torch.ones_like(tp)
    iou = tp / torch.maximum(tp + fp + fn, one)
    return {
        "acc": tp.sum() / total,
        "iou": iou,
        "miou": iou.sum() / CLASSES,
        "precision": tp / torch.maximum(tp + fp, one),
        "recall": tp / torch.maximum(support, one),
        "fwiou": torch.dot(support, iou) / total,
        "dice": 2 * tp / torch.maximum(2 * tp + fp + fn, one),
    }
