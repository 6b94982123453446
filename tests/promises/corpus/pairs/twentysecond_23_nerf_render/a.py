"""A NeRF: encoded points to density and colour, and volume rendering by alphas and their cumulative product."""

import torch
from torch import nn
from torch.nn import functional as F


class NeRF(nn.Module):
    def __init__(self, frequencies=2, width=12, far_delta=1e10):
        super().__init__()
        self.frequencies, self.far_delta = frequencies, far_delta
        encoded = 3 + 3 * 2 * frequencies
        self.pts = nn.Linear(encoded, width)
        self.pts2 = nn.Linear(width + encoded, width)
        self.alpha = nn.Linear(width, 1)
        self.rgb = nn.Linear(width, 3)

    def encode(self, x):
        parts = [x]
        for k in range(self.frequencies):
            parts += [torch.sin(2.0**k * x), torch.cos(2.0**k * x)]
        return torch.cat(parts, -1)

    def field(self, x):
        e = self.encode(x)
        h = F.relu(self.pts(e))
        h = F.relu(self.pts2(torch.cat([e, h], -1)))
        return self.rgb(h), self.alpha(h)[..., 0]

    def forward(self, rays_o, rays_d, z):
        """rays_o, rays_d [R, 3], z [R, S] → colour on white, depth, opacity."""
        points = rays_o[:, None] + rays_d[:, None] * z[..., None]
        raw_rgb, raw_sigma = self.field(points)
        dists = z[:, 1:] - z[:, :-1]
        dists = torch.cat([dists, torch.full_like(dists[:, :1], self.far_delta)], -1)
        dists = dists * rays_d.norm(dim=-1, keepdim=True)
        alpha = 1.0 - torch.exp(-F.relu(raw_sigma) * dists)
        before = torch.cat([torch.ones_like(alpha[:, :1]), 1.0 - alpha], -1).cumprod(-1)[:, :-1]
        weights = alpha * before
        rgb = (weights[..., None] * torch.sigmoid(raw_rgb)).sum(-2)
        depth = (weights * z).sum(-1)
        opacity = weights.sum(-1)
        return rgb + (1.0 - opacity[:, None]), depth, opacity


def inputs():
    z = torch.linspace(2, 6, 6) + 0.5 * torch.rand(4, 6)
    return torch.randn(4, 3), torch.randn(4, 3), z
