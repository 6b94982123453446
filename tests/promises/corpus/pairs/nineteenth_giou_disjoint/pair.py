"""Generalised IoU loss of DETR, boxes as centre and logarithm of size."""
import torch


def corners(box):
    centre, size = box[..., :2], box[..., 2:].exp()
    return torch.cat([centre - size / 2, centre + size / 2], dim=-1)


def reference(prediction, truth):
    a, b = corners(prediction), corners(truth)
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    overlap = (torch.min(a[:, 2:], b[:, 2:]) - torch.max(a[:, :2], b[:, :2])).clamp(min=0)
    inter = overlap[:, 0] * overlap[:, 1]
    union = area_a + area_b - inter
    hull = torch.max(a[:, 2:], b[:, 2:]) - torch.min(a[:, :2], b[:, :2])
    enclosing = hull[:, 0] * hull[:, 1]
    giou = inter / union - (enclosing - union) / enclosing
    return (1 - giou).mean()


def port(prediction, truth):
    (x0, y0, x1, y1), (u0, v0, u1, v1) = corners(prediction).unbind(-1), corners(truth).unbind(-1)
    areas = torch.exp(prediction[:, 2] + prediction[:, 3]) + torch.exp(truth[:, 2] + truth[:, 3])
    inter = (torch.minimum(x1, u1) - torch.maximum(x0, u0)) * (torch.minimum(y1, v1) - torch.maximum(y0, v0))
    union = areas - inter
    hull = (torch.maximum(x1, u1) - torch.minimum(x0, u0)) * (torch.maximum(y1, v1) - torch.minimum(y0, v0))
    return 2 - (inter / union + union / hull).mean()


def inputs():
    def boxes():
        return torch.cat([0.2 * torch.randn(5, 2), 0.1 * torch.randn(5, 2)], dim=1)

    return boxes(), boxes()
