"""Generalised IoU of decoded boxes: torchvision's loss on corners, and ours on centres and sizes."""
import torch

EPS = 1e-7
B, N = 2, 6


def decode(raw, anchors):
    centre = anchors[..., :2] + raw[..., :2].tanh() * anchors[..., 2:].exp()
    size = (anchors[..., 2:] + raw[..., 2:]).exp()
    return centre, size


def left(raw, anchors, target):
    centre, size = decode(raw, anchors)
    boxes1 = torch.cat([centre - size / 2, centre + size / 2], dim=-1)
    tc, ts = target[..., :2], target[..., 2:].exp()
    boxes2 = torch.cat([tc - ts / 2, tc + ts / 2], dim=-1)

    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    x1g, y1g, x2g, y2g = boxes2.unbind(dim=-1)
    xkis1, ykis1 = torch.max(x1, x1g), torch.max(y1, y1g)
    xkis2, ykis2 = torch.min(x2, x2g), torch.min(y2, y2g)
    mask = (ykis2 > ykis1) & (xkis2 > xkis1)
    intsctk = torch.where(mask, (xkis2 - xkis1) * (ykis2 - ykis1), torch.zeros_like(x1))
    unionk = (x2 - x1) * (y2 - y1) + (x2g - x1g) * (y2g - y1g) - intsctk
    iouk = intsctk / (unionk + EPS)
    xc1, yc1 = torch.min(x1, x1g), torch.min(y1, y1g)
    xc2, yc2 = torch.max(x2, x2g), torch.max(y2, y2g)
    area_c = (xc2 - xc1) * (yc2 - yc1)
    miouk = iouk - ((area_c - unionk) / (area_c + EPS))
    return (1 - miouk).mean(), iouk


def right(raw, anchors, target):
    centre, size = decode(raw, anchors)
    tc, ts = target.split(2, dim=-1)
    ts = ts.exp()
    lo, hi = centre - 0.5 * size, centre + 0.5 * size
    tlo, thi = tc - 0.5 * ts, tc + 0.5 * ts
    overlap = (torch.minimum(hi, thi) - torch.maximum(lo, tlo)).clamp(min=0).prod(-1)
    hull = (torch.maximum(hi, thi) - torch.minimum(lo, tlo)).prod(-1)
    union = size.prod(-1) + ts.prod(-1) - overlap
    iou = overlap / (union + EPS)
    loss = 1 - iou + (hull - union) / (hull + EPS)
    return loss.mean(), iou


def inputs():
    anchors = torch.cat([torch.randn(B, N, 2), 0.3 * torch.randn(B, N, 2)], -1)
    return 0.5 * torch.randn(B, N, 4), anchors, anchors + 0.3 * torch.randn(B, N, 4)
