"""The same in log space: optical depth is summed, weights are differences of transmittance."""
import torch
from torch.nn import functional as F


def by_optical_depth(raw, near_logit, gaps, direction, background):
    steps = F.softplus(gaps)
    depths = near_logit.exp().unsqueeze(1) + steps.cumsum(1)
    length = direction.square().sum(-1, keepdim=True).sqrt()
    distance = F.pad(steps[:, 1:], (0, 1), value=2.0) * length
    optical = F.relu(raw[..., 3]) * distance
    total = F.pad(optical.cumsum(1), (1, 0))
    through = torch.exp(-total)
    weights = through[:, :-1] - through[:, 1:]
    opacity = 1 - through[:, -1]
    rgb = torch.einsum("rs,rsc->rc", weights, raw[..., :3].sigmoid()) + through[:, -1:] * background
    depth = torch.einsum("rs,rs->r", weights, depths)
    return {"rgb": rgb, "depth": depth, "opacity": opacity, "weights": weights}
