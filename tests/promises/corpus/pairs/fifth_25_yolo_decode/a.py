import torch

ANCHORS = ((10.0, 13.0), (16.0, 30.0), (33.0, 23.0))
STRIDE = 8


def program(raw):
    """Boxes, objectness and classes of one scale, anchor by anchor; raw is (B, 3 · (5 + C), H, W)."""
    b, channels, h, w = raw.shape
    per = channels // len(ANCHORS)
    found = []
    for i, (anchor_w, anchor_h) in enumerate(ANCHORS):
        part = raw[:, i * per : (i + 1) * per]
        columns = torch.arange(w, dtype=raw.dtype).view(1, 1, w)
        rows = torch.arange(h, dtype=raw.dtype).view(1, h, 1)
        cx = (torch.sigmoid(part[:, 0]) * 2 - 0.5 + columns) * STRIDE
        cy = (torch.sigmoid(part[:, 1]) * 2 - 0.5 + rows) * STRIDE
        bw = (torch.sigmoid(part[:, 2]) * 2) ** 2 * anchor_w
        bh = (torch.sigmoid(part[:, 3]) * 2) ** 2 * anchor_h
        box = torch.stack([cx, cy, bw, bh], dim=-1)
        rest = torch.sigmoid(part[:, 4:]).permute(0, 2, 3, 1)
        found.append(torch.cat([box, rest], dim=-1).reshape(b, h * w, per))
    return torch.cat(found, dim=1)
