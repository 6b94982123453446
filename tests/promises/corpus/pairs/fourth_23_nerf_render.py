# EQUAL
"""Volume rendering of NeRF: products of (1 - alpha), and optical depth by a cumulative sum."""
import torch
import torch.nn.functional as F


def left(raw, z_vals, rays_d):
    """raw: rays, samples, 4; from run_nerf_helpers, white background"""
    dists = z_vals[..., 1:] - z_vals[..., :-1]
    dists = dists * torch.norm(rays_d[..., None, :], dim=-1)
    rgb = torch.sigmoid(raw[:, :-1, :3])
    alpha = 1.0 - torch.exp(-F.relu(raw[:, :-1, 3]) * dists)
    weights = alpha * torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1)), 1.0 - alpha], -1), -1)[:, :-1]
    rgb_map = torch.sum(weights[..., None] * rgb, -2)
    depth_map = torch.sum(weights * z_vals[..., :-1], -1)
    acc_map = torch.sum(weights, -1)
    rgb_map = rgb_map + (1.0 - acc_map[..., None])
    return {"rgb": rgb_map, "depth": depth_map, "acc": acc_map}


def right(raw, z_vals, rays_d):
    delta = torch.diff(z_vals, dim=-1) * rays_d.square().sum(-1, keepdim=True).sqrt()
    tau = raw[:, :-1, 3].clamp(min=0) * delta
    before = torch.cumsum(tau, dim=1) - tau
    w = torch.exp(-before) * (-torch.expm1(-tau))
    opacity = 1 - torch.exp(-tau.sum(1))
    colour = torch.einsum("rs,rsc->rc", w, raw[:, :-1, :3].sigmoid())
    return {
        "rgb": colour + 1 - opacity[:, None],
        "depth": torch.einsum("rs,rs->r", w, z_vals[:, :-1]),
        "acc": opacity,
    }


def inputs():
    z = torch.sort(2 + 4 * torch.rand(5, 9), dim=-1).values
    return torch.randn(5, 9, 4), z, torch.randn(5, 3)
