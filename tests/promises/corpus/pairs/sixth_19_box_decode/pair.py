import math

import torch

WEIGHTS = (10.0, 10.0, 5.0, 5.0)
CLIP = math.log(1000.0 / 16)


def left(rel_codes, boxes):
    """rel_codes: N x 4C, boxes: N x 4"""
    widths = boxes[:, 2] - boxes[:, 0]
    heights = boxes[:, 3] - boxes[:, 1]
    ctr_x = boxes[:, 0] + 0.5 * widths
    ctr_y = boxes[:, 1] + 0.5 * heights
    wx, wy, ww, wh = WEIGHTS
    dx = rel_codes[:, 0::4] / wx
    dy = rel_codes[:, 1::4] / wy
    dw = torch.clamp(rel_codes[:, 2::4] / ww, max=CLIP)
    dh = torch.clamp(rel_codes[:, 3::4] / wh, max=CLIP)
    px = dx * widths[:, None] + ctr_x[:, None]
    py = dy * heights[:, None] + ctr_y[:, None]
    pw = torch.exp(dw) * widths[:, None]
    ph = torch.exp(dh) * heights[:, None]
    c_w, c_h = 0.5 * pw, 0.5 * ph
    return torch.stack((px - c_w, py - c_h, px + c_w, py + c_h), dim=2).flatten(1)


def right(rel_codes, boxes):
    size = boxes[:, 2:] - boxes[:, :2]
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2
    out = torch.empty_like(rel_codes)
    for c in range(rel_codes.shape[1] // 4):
        code = rel_codes[:, 4 * c : 4 * c + 4]
        new_centre = centre + code[:, :2] * 0.1 * size
        half = size * (code[:, 2:] * 0.2).clamp(max=CLIP).exp() / 2
        out[:, 4 * c : 4 * c + 2] = new_centre - half
        out[:, 4 * c + 2 : 4 * c + 4] = new_centre + half
    return out


def inputs():
    xy = torch.rand(5, 2) * 50
    return torch.randn(5, 12), torch.cat([xy, xy + torch.rand(5, 2) * 30 + 1], 1)
