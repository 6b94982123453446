"""Post-processing of RetinaNet in torchvision: anchors of one level, and boxes decoded from the head's deltas."""
import math

import torch

STRIDE, SIZES, RATIOS = 8, (32.0, 40.0), (0.5, 1.0, 2.0)
XFORM_CLIP = math.log(1000.0 / 16)


def cell_anchors():
    scales, ratios = torch.tensor(SIZES), torch.tensor(RATIOS)
    h_ratios = torch.sqrt(ratios)
    w_ratios = 1 / h_ratios
    ws = (w_ratios[:, None] * scales[None, :]).view(-1)
    hs = (h_ratios[:, None] * scales[None, :]).view(-1)
    return torch.stack([-ws, -hs, ws, hs], dim=1) / 2


def grid_anchors(height, width):
    x, y = torch.arange(0, width) * STRIDE, torch.arange(0, height) * STRIDE
    shift_y, shift_x = torch.meshgrid(y, x, indexing="ij")
    shifts = torch.stack([shift_x, shift_y, shift_x, shift_y], dim=-1).view(-1, 4)
    return (shifts.view(-1, 1, 4) + cell_anchors().view(1, -1, 4)).reshape(-1, 4)


def decode(deltas):
    """Deltas [batch, anchors · 4, height, width] to corners [batch, height · width · anchors, 4]."""
    batch, _, height, width = deltas.shape
    deltas = deltas.view(batch, -1, 4, height, width).permute(0, 3, 4, 1, 2).reshape(batch, -1, 4)
    boxes = grid_anchors(height, width)
    widths, heights = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    ctr_x, ctr_y = boxes[:, 0] + 0.5 * widths, boxes[:, 1] + 0.5 * heights
    dx, dy, dw, dh = deltas.unbind(-1)
    dw, dh = dw.clamp(max=XFORM_CLIP), dh.clamp(max=XFORM_CLIP)
    pred_x, pred_y = dx * widths + ctr_x, dy * heights + ctr_y
    pred_w, pred_h = torch.exp(dw) * widths, torch.exp(dh) * heights
    corners = pred_x - 0.5 * pred_w, pred_y - 0.5 * pred_h, pred_x + 0.5 * pred_w, pred_y + 0.5 * pred_h
    return torch.stack(corners, dim=-1)


def inputs():
    return (torch.randn(2, 4 * len(SIZES) * len(RATIOS), 3, 5),)
