# EQUAL
import torch


def left(a, b):
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area_a[:, None] + area_b - inter)


def right(a, b):
    ax0, ay0, ax1, ay1 = (t.unsqueeze(1) for t in a.unbind(-1))
    bx0, by0, bx1, by1 = (t.unsqueeze(0) for t in b.unbind(-1))
    w = torch.relu(torch.minimum(ax1, bx1) - torch.maximum(ax0, bx0))
    h = torch.relu(torch.minimum(ay1, by1) - torch.maximum(ay0, by0))
    overlap = w * h
    union = (ax1 - ax0) * (ay1 - ay0) + (bx1 - bx0) * (by1 - by0) - overlap
    return overlap / union


def inputs():
    torch.manual_seed(15)

    def boxes(n):
        corner = torch.rand(n, 2)
        return torch.cat([corner, corner + 0.2 + torch.rand(n, 2)], dim=1)

    return boxes(4), boxes(6)
