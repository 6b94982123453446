"""Metrics of semantic segmentation by the confusion matrix, as in FCN's fast_hist."""
import torch

CLASSES, IGNORE = 4, -1


def confusion(pred, target):
    keep = target != IGNORE
    index = CLASSES * target[keep] + pred[keep]
    return torch.bincount(index, minlength=CLASSES ** 2).reshape(CLASSES, CLASSES)


def metrics(logits, target):
    pred = logits.argmax(1)
    hist = confusion(pred.flatten(), target.flatten()).to(logits.dtype)
    tp = torch.diag(hist)
    pixel_acc = tp.sum() / hist.sum()
    union = hist.sum(1) + hist.sum(0) - tp
    iou = tp / union.clamp(min=1)
    precision = tp / hist.sum(0).clamp(min=1)
    recall = tp / hist.sum(1).clamp(min=1)
    freq = hist.sum(1) / hist.sum()
    fw_iou = (freq * iou).sum()
    dice = 2 * tp / (hist.sum(0) + hist.sum(1)).clamp(min=1)
    return {"acc": pixel_acc, "iou": iou, "miou": iou.mean(), "precision": precision, "recall": recall,
            "fwiou": fw_iou, "dice": dice}


def inputs():
    target = torch.randint(0, 4, (2, 5, 6))
    target[0, 0, :2] = -1
    target[1, 3, 4] = -1
    return torch.randn(2, 4, 5, 6), target
