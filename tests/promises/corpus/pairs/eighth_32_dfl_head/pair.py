"""Anchor-free detection head: box distances as distributions over 8 bins, decoded to xyxy boxes."""
import torch
import torch.nn.functional as F
from torch import nn

REG, NC, STRIDE = 8, 3, 8


class Head(nn.Module):
    def __init__(self, ch=6):
        super().__init__()
        self.cv2 = nn.Sequential(nn.Conv2d(ch, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, 4 * REG, 1))
        self.cv3 = nn.Sequential(nn.Conv2d(ch, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, NC, 1))
        self.register_buffer("proj", torch.arange(REG, dtype=torch.get_default_dtype()), persistent=False)

    def forward(self, x):
        b, _, h, w = x.shape
        y = torch.cat((self.cv2(x), self.cv3(x)), 1).view(b, 4 * REG + NC, -1)
        box, cls = y.split((4 * REG, NC), 1)
        a = box.shape[-1]
        dist = box.view(b, 4, REG, a).transpose(2, 1).softmax(1)                 # b, REG, 4, a
        dist = F.conv2d(dist, self.proj.view(1, REG, 1, 1)).view(b, 4, a)
        sx = torch.arange(w, device=x.device, dtype=x.dtype) + 0.5
        sy = torch.arange(h, device=x.device, dtype=x.dtype) + 0.5
        sy, sx = torch.meshgrid(sy, sx, indexing="ij")
        anchors = torch.stack((sx, sy), -1).view(-1, 2).T.unsqueeze(0)
        lt, rb = dist.chunk(2, 1)
        boxes = torch.cat((anchors - lt, anchors + rb), 1) * STRIDE
        return torch.cat((boxes, cls.sigmoid()), 1)


class ExportHead(nn.Module):
    """Same head for an engine that likes [batch, anchors, channels]."""

    def __init__(self, src):
        super().__init__()
        self.box_conv, self.box_out = nn.Conv2d(6, 8, 3, padding=1), nn.Conv2d(8, 4 * REG, 1)
        self.cls_conv, self.cls_out = nn.Conv2d(6, 8, 3, padding=1), nn.Conv2d(8, NC, 1)
        for mine, theirs in ((self.box_conv, src.cv2[0]), (self.box_out, src.cv2[2]), (self.cls_conv, src.cv3[0]), (self.cls_out, src.cv3[2])):
            mine.load_state_dict(theirs.state_dict())

    def forward(self, x):
        h, w = x.shape[-2:]
        logits = self.box_out(F.silu(self.box_conv(x))).flatten(2).mT              # b, a, 4*REG
        p = logits.unflatten(-1, (4, REG)).softmax(-1)
        d = torch.zeros_like(p[..., 0])
        for k in range(1, REG):
            d = d + k * p[..., k]
        idx = torch.arange(h * w, device=x.device)
        cx = (idx % w).to(x.dtype) + 0.5
        cy = torch.div(idx, w, rounding_mode="floor").to(x.dtype) + 0.5
        l, t, r, b = d.unbind(-1)
        boxes = STRIDE * torch.stack([cx - l, cy - t, cx + r, cy + b], -1)
        scores = torch.sigmoid(self.cls_out(F.silu(self.cls_conv(x))).flatten(2).mT)
        return torch.cat([boxes, scores], -1).mT.contiguous()


torch.manual_seed(0)
left = Head().eval()
right = ExportHead(left).eval()
inputs = (torch.randn(2, 6, 4, 5),)
