# EQUAL
"""Box head of DETR: generalised IoU over corners (torchvision's), and directly from centres and sizes."""
import torch
import torch.nn.functional as F


def box_cxcywh_to_xyxy(x):
    x_c, y_c, w, h = x.unbind(-1)
    return torch.stack([x_c - 0.5 * w, y_c - 0.5 * h, x_c + 0.5 * w, y_c + 0.5 * h], dim=-1)


def generalized_box_iou_loss(boxes1, boxes2, eps=1e-7):
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    xkis1, ykis1 = torch.max(x1, x1g), torch.max(y1, y1g)
    xkis2, ykis2 = torch.min(x2, x2g), torch.min(y2, y2g)
    intsctk = torch.zeros_like(x1)
    mask = (ykis2 > ykis1) & (xkis2 > xkis1)
    intsctk = torch.where(mask, (xkis2 - xkis1) * (ykis2 - ykis1), intsctk)
    unionk = (x2 - x1) * (y2 - y1) + (x2g - x1g) * (y2g - y1g) - intsctk
    iouk = intsctk / (unionk + eps)
    xc1, yc1 = torch.min(x1, x1g), torch.min(y1, y1g)
    xc2, yc2 = torch.max(x2, x2g), torch.max(y2, y2g)
    area_c = (xc2 - xc1) * (yc2 - yc1)
    miouk = iouk - ((area_c - unionk) / (area_c + eps))
    return 1 - miouk


def left(logits, target):
    boxes = logits.sigmoid()
    giou = generalized_box_iou_loss(box_cxcywh_to_xyxy(boxes), box_cxcywh_to_xyxy(target))
    return {"loss_bbox": F.l1_loss(boxes, target, reduction="none").sum() / len(target),
            "loss_giou": giou.sum() / len(target)}


def right(logits, target):
    b = torch.sigmoid(logits)
    n = target.shape[0]
    c, s, cg, sg = b[:, :2], b[:, 2:], target[:, :2], target[:, 2:]
    lo, hi = c - s / 2, c + s / 2
    log, hig = cg - sg / 2, cg + sg / 2
    inter = (torch.minimum(hi, hig) - torch.maximum(lo, log)).clamp(min=0).prod(-1)
    hull = (torch.maximum(hi, hig) - torch.minimum(lo, log)).prod(-1)
    union = s.prod(-1) + sg.prod(-1) - inter
    giou = inter / (union + 1e-7) - (hull - union) / (hull + 1e-7)
    return {"loss_bbox": (b - target).abs().sum(1).sum() / n, "loss_giou": (1 - giou).sum() / n}


def inputs():
    return torch.randn(6, 4), torch.rand(6, 4) * 0.5 + 0.2
