import torch


def box_cxcywh_to_xyxy(x):
    x_c, y_c, w, h = x.unbind(-1)
    b = [(x_c - 0.5 * w), (y_c - 0.5 * h), (x_c + 0.5 * w), (y_c + 0.5 * h)]
    return torch.stack(b, dim=-1)


def box_area(b):
    return (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])


def left(pred_boxes, target_boxes):
    boxes1 = box_cxcywh_to_xyxy(pred_boxes)
    boxes2 = box_cxcywh_to_xyxy(target_boxes)
    area1, area2 = box_area(boxes1), box_area(boxes2)

    lt = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    union = area1[:, None] + area2 - inter
    iou = inter / union

    lt = torch.min(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.max(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    area = wh[:, :, 0] * wh[:, :, 1]
    return iou - (area - union) / area


def _one(p, t):
    px0, px1 = p[0] - p[2] / 2, p[0] + p[2] / 2
    py0, py1 = p[1] - p[3] / 2, p[1] + p[3] / 2
    tx0, tx1 = t[0] - t[2] / 2, t[0] + t[2] / 2
    ty0, ty1 = t[1] - t[3] / 2, t[1] + t[3] / 2
    iw = torch.relu(torch.minimum(px1, tx1) - torch.maximum(px0, tx0))
    ih = torch.relu(torch.minimum(py1, ty1) - torch.maximum(py0, ty0))
    inter = iw * ih
    union = p[2] * p[3] + t[2] * t[3] - inter
    hull_w = torch.relu(torch.maximum(px1, tx1) - torch.minimum(px0, tx0))
    hull_h = torch.relu(torch.maximum(py1, ty1) - torch.minimum(py0, ty0))
    hull = hull_w * hull_h
    return inter / union - 1 + union / hull


def right(pred_boxes, target_boxes):
    rows = []
    for p in pred_boxes:
        rows.append(torch.stack([_one(p, t) for t in target_boxes]))
    return torch.stack(rows)


def inputs():
    return {"pred_boxes": torch.rand(4, 4) * 0.5 + 0.2, "target_boxes": torch.rand(3, 4) * 0.5 + 0.2}
