"""The same as in a rasteriser's kernel: axes of each Gaussian by rotating unit vectors, projected to the screen one by one."""

import torch
from torch import nn


class KernelProjector(nn.Module):
    def __init__(self, gaussians=6, focal=(20.0, 24.0), tan_fov=(0.8, 0.6)):
        super().__init__()
        self.xyz = nn.Parameter(torch.randn(gaussians, 3))
        self.rotation = nn.Parameter(torch.randn(gaussians, 4))
        self.scaling = nn.Parameter(0.5 * torch.randn(gaussians, 3))
        self.focal, self.tan_fov = focal, tan_fov

    def axes(self):
        """Columns of the rotation by homogeneous formulas (no unit quaternion is made), times the scales: [N, 3 axes, 3]."""
        w, x, y, z = self.rotation.unbind(-1)
        n = w * w + x * x + y * y + z * z
        first = torch.stack([w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)], -1)
        second = torch.stack([2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)], -1)
        third = torch.stack([2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z], -1)
        return torch.stack([first, second, third], 1) / n[:, None, None] * self.scaling.exp()[:, :, None]

    def forward(self, view, shift):
        camera = torch.einsum("ij,nj->ni", view, self.xyz) + shift
        depth = 1 / camera[:, 2]
        slope_x, slope_y = camera[:, 0] * depth, camera[:, 1] * depth
        limx, limy = 1.3 * self.tan_fov[0], 1.3 * self.tan_fov[1]
        sx = slope_x.clamp_min(-limx).clamp_max(limx)
        sy = slope_y.clamp_min(-limy).clamp_max(limy)
        fx, fy = self.focal
        moved = self.axes() @ view.t()                                    # axes as the camera sees them
        u = fx * depth[:, None] * (moved[..., 0] - sx[:, None] * moved[..., 2])
        v = fy * depth[:, None] * (moved[..., 1] - sy[:, None] * moved[..., 2])
        cov_uu = (u * u).sum(1) + 0.3
        cov_uv = (u * v).sum(1)
        cov_vv = (v * v).sum(1) + 0.3
        inverse = 1 / (cov_uu * cov_vv - cov_uv.square())
        conics = torch.stack([cov_vv, -cov_uv, cov_uu], -1) * inverse[:, None]
        centres = torch.stack([slope_x * fx, slope_y * fy], -1)
        return conics, centres
