"""Spatial transformer: the second spelling builds the sampling grid by itself (for ONNX)."""
import torch
import torch.nn.functional as F
from torch import nn


class STN(nn.Module):
    def __init__(self, c=2):
        super().__init__()
        self.loc = nn.Sequential(nn.Conv2d(c, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 6))
        with torch.no_grad():
            self.loc[-1].weight.mul_(0.3)
            self.loc[-1].bias.copy_(torch.tensor([0.9, 0.1, 0.05, -0.1, 0.95, -0.02]))

    def grid(self, theta, x):
        return F.affine_grid(theta, x.shape, align_corners=False)

    def forward(self, x):
        theta = self.loc(x).view(-1, 2, 3)
        return F.grid_sample(x, self.grid(theta, x), mode="bilinear", padding_mode="border", align_corners=False)


class STNExport(STN):
    def grid(self, theta, x):
        h, w = x.shape[-2:]
        xs = torch.linspace(-1, 1, w, dtype=x.dtype)
        ys = torch.linspace(-1, 1, h, dtype=x.dtype)
        base = torch.stack([xs.repeat(h), ys.repeat_interleave(w), torch.ones(h * w, dtype=x.dtype)], -1)
        return torch.einsum("pk,bik->bpi", base, theta).view(-1, h, w, 2)


left = STN()
right = STNExport()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 2, 7, 8),)
