"""A feature pyramid, after torchvision, and a rewrite in one loop."""
import torch
from torch import nn
import torch.nn.functional as F

CHANNELS = (4, 6, 8)
OUT = 5


class FeaturePyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner_blocks = nn.ModuleList([nn.Conv2d(c, OUT, 1) for c in CHANNELS])
        self.layer_blocks = nn.ModuleList([nn.Conv2d(OUT, OUT, 3, padding=1) for _ in CHANNELS])

    def forward(self, c3, c4, c5):
        x = [c3, c4, c5]
        last_inner = self.inner_blocks[-1](x[-1])
        results = [self.layer_blocks[-1](last_inner)]
        for idx in range(len(x) - 2, -1, -1):
            inner_lateral = self.inner_blocks[idx](x[idx])
            inner_top_down = F.interpolate(last_inner, size=inner_lateral.shape[-2:], mode="nearest")
            last_inner = inner_lateral + inner_top_down
            results.insert(0, self.layer_blocks[idx](last_inner))
        return results


class Rewrite(nn.Module):
    def __init__(self, fpn):
        super().__init__()
        self.lateral = fpn.inner_blocks
        self.smooth = fpn.layer_blocks

    def forward(self, c3, c4, c5):
        top = None
        out = []
        for x, lateral, smooth in reversed(list(zip((c3, c4, c5), self.lateral, self.smooth))):
            merged = lateral(x)
            if top is not None:
                merged = merged + top.repeat_interleave(2, dim=-2).repeat_interleave(2, dim=-1)
            top = smooth(merged)
            out.append(top)
        return out[::-1]


torch.manual_seed(0)
left = FeaturePyramid()
right = Rewrite(left)
inputs = (torch.randn(2, 4, 8, 8), torch.randn(2, 6, 4, 4), torch.randn(2, 8, 2, 2))
