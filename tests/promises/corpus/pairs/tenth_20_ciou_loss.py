# EQUAL
# Complete-IoU loss: on corners with atan(w / h), and on centres with atan(h / w); the two angles add up to pi / 2
import math
import torch


def decode(raw):
    """(cx, cy, log w, log h) -> corners."""
    half = raw[..., 2:].exp() / 2
    return torch.cat([raw[..., :2] - half, raw[..., :2] + half], -1)


def left(pred_raw, target_raw):
    pred, target = decode(pred_raw), decode(target_raw)
    lt = torch.max(pred[:, :2], target[:, :2])
    rb = torch.min(pred[:, 2:], target[:, 2:])
    wh = (rb - lt).clamp(min=0)
    overlap = wh[:, 0] * wh[:, 1]
    w1, h1 = pred[:, 2] - pred[:, 0], pred[:, 3] - pred[:, 1]
    w2, h2 = target[:, 2] - target[:, 0], target[:, 3] - target[:, 1]
    union = w1 * h1 + w2 * h2 - overlap
    iou = overlap / union
    enclose = torch.max(pred[:, 2:], target[:, 2:]) - torch.min(pred[:, :2], target[:, :2])
    c2 = enclose[:, 0] ** 2 + enclose[:, 1] ** 2
    dx = (target[:, 0] + target[:, 2]) - (pred[:, 0] + pred[:, 2])
    dy = (target[:, 1] + target[:, 3]) - (pred[:, 1] + pred[:, 3])
    rho2 = (dx ** 2 + dy ** 2) / 4
    v = (4 / math.pi ** 2) * (torch.atan(w2 / h2) - torch.atan(w1 / h1)) ** 2
    alpha = v / (1 - iou + v)
    return (1 - (iou - rho2 / c2 - alpha * v)).mean()


def right(pred_raw, target_raw):
    def parts(raw):
        c, s = raw[:, :2], raw[:, 2:].exp()
        return c, s, c - 0.5 * s, c + 0.5 * s
    c1, s1, lo1, hi1 = parts(pred_raw)
    c2, s2, lo2, hi2 = parts(target_raw)
    inter = torch.relu(torch.minimum(hi1, hi2) - torch.maximum(lo1, lo2)).prod(-1)
    iou = inter / (s1.prod(-1) + s2.prod(-1) - inter)
    hull = torch.maximum(hi1, hi2) - torch.minimum(lo1, lo2)
    distance = (c1 - c2).square().sum(-1) / hull.square().sum(-1)
    angle = torch.arctan(s1[:, 1] / s1[:, 0]) - torch.arctan(s2[:, 1] / s2[:, 0])
    v = (2 / math.pi * angle).square()
    loss = 1 - iou + distance + v * v / (v - iou + 1)
    return loss.mean()


def inputs():
    a = torch.randn(5, 4) * 0.5
    return a, a + 0.3 * torch.randn(5, 4)
