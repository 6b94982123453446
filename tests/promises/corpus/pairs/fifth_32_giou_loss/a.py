import torch


def to_corners(boxes):
    cx, cy, w, h = boxes.unbind(-1)
    return torch.stack([cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h], dim=-1)


def area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def program(predicted, target):
    """Mean generalised IoU loss of matched boxes, given as centre and size."""
    eps = 1e-7
    p, t = to_corners(predicted), to_corners(target)
    lt, rb = torch.max(p[:, :2], t[:, :2]), torch.min(p[:, 2:], t[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, 0] * wh[:, 1]
    union = area(p) + area(t) - inter
    iou = inter / (union + eps)
    lt, rb = torch.min(p[:, :2], t[:, :2]), torch.max(p[:, 2:], t[:, 2:])
    hull = (rb[:, 0] - lt[:, 0]) * (rb[:, 1] - lt[:, 1])
    giou = iou - (hull - union) / (hull + eps)
    return (1 - giou).mean()
