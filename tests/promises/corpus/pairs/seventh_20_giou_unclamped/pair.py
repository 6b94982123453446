import torch

torch.manual_seed(120)


def to_corners(b):
    cx, cy, w, h = b.unbind(-1)
    return torch.stack([cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h], dim=-1)


def left(pred, target):
    a, b = to_corners(pred), to_corners(target)
    lt = torch.max(a[:, :2], b[:, :2])
    rb = torch.min(a[:, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, 0] * wh[:, 1]
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    union = area_a + area_b - inter
    hull_wh = torch.max(a[:, 2:], b[:, 2:]) - torch.min(a[:, :2], b[:, :2])
    hull = hull_wh[:, 0] * hull_wh[:, 1]
    return (1 - inter / union + (hull - union) / hull).mean()


def right(pred, target):
    """By centres and sizes: the overlap of two intervals is the sum of sizes minus their hull."""
    areas = pred[:, 2:].prod(dim=1) + target[:, 2:].prod(dim=1)
    low = torch.minimum(pred[:, :2] - pred[:, 2:] / 2, target[:, :2] - target[:, 2:] / 2)
    high = torch.maximum(pred[:, :2] + pred[:, 2:] / 2, target[:, :2] + target[:, 2:] / 2)
    span = high - low
    inter = (pred[:, 2:] + target[:, 2:] - span).prod(dim=1)
    union = areas - inter
    giou = inter / union - 1 + union / span.prod(dim=1)
    return (1 - giou).mean()


def boxes(n):
    return torch.cat([2 * torch.rand(n, 2), 0.3 + torch.rand(n, 2)], dim=1)


inputs = (boxes(6), boxes(6))
