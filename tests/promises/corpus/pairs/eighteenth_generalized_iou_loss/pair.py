import torch


def to_corners(box):
    """(cx, cy, log w, log h) to (x1, y1, x2, y2)."""
    centre, size = box[:, :2], box[:, 2:].exp()
    return torch.cat([centre - 0.5 * size, centre + 0.5 * size], dim=-1)


def area(box):
    return (box[:, 2] - box[:, 0]) * (box[:, 3] - box[:, 1])


def detr(pred, target):
    """All pairs, then the diagonal, as DETR's SetCriterion does."""
    p, t = to_corners(pred), to_corners(target)
    top_left = torch.max(p[:, None, :2], t[None, :, :2])
    bottom_right = torch.min(p[:, None, 2:], t[None, :, 2:])
    wh = (bottom_right - top_left).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    union = area(p)[:, None] + area(t)[None, :] - inter
    hull_wh = torch.max(p[:, None, 2:], t[None, :, 2:]) - torch.min(p[:, None, :2], t[None, :, :2])
    hull = hull_wh.clamp(min=0).prod(dim=-1)
    giou = inter / union - (hull - union) / hull
    return (1 - torch.diag(giou)).sum() / pred.shape[0]


def elementwise(pred, target):
    """Overlap along each axis by itself."""

    def along(c_p, s_p, c_t, s_t):
        lo_p, hi_p, lo_t, hi_t = c_p - s_p / 2, c_p + s_p / 2, c_t - s_t / 2, c_t + s_t / 2
        overlap = torch.relu(torch.minimum(hi_p, hi_t) - torch.maximum(lo_p, lo_t))
        span = torch.maximum(hi_p, hi_t) - torch.minimum(lo_p, lo_t)
        return overlap, span

    cx_p, cy_p, lw_p, lh_p = pred.unbind(-1)
    cx_t, cy_t, lw_t, lh_t = target.unbind(-1)
    w_p, h_p, w_t, h_t = lw_p.exp(), lh_p.exp(), lw_t.exp(), lh_t.exp()
    over_x, span_x = along(cx_p, w_p, cx_t, w_t)
    over_y, span_y = along(cy_p, h_p, cy_t, h_t)
    inter, hull = over_x * over_y, span_x * span_y
    union = w_p * h_p + w_t * h_t - inter
    return (2 - inter / union - union / hull).mean()


def example(N=5):
    return torch.randn(N, 4) * 0.5, torch.randn(N, 4) * 0.5


def inputs():
    return example()
