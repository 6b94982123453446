"""3D Gaussian splatting in Python: rotations from unit quaternions, Σ = R S Sᵀ Rᵀ, projected by J W Σ Wᵀ Jᵀ, as conics."""

import torch
from torch import nn


def build_rotation(r):
    q = r / r.norm(dim=1, keepdim=True)
    w, x, y, z = q.unbind(1)
    R = torch.stack(
        [
            torch.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], 1),
            torch.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], 1),
            torch.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], 1),
        ],
        1,
    )
    return R


class Projector(nn.Module):
    def __init__(self, gaussians=6, focal=(20.0, 24.0), tan_fov=(0.8, 0.6)):
        super().__init__()
        self.xyz = nn.Parameter(torch.randn(gaussians, 3))
        self.rotation = nn.Parameter(torch.randn(gaussians, 4))
        self.scaling = nn.Parameter(0.5 * torch.randn(gaussians, 3))
        self.focal, self.tan_fov = focal, tan_fov

    def forward(self, view, shift):
        """view [3, 3] and shift [3]: from the world to the camera. → conics [N, 3] and centres [N, 2]."""
        L = build_rotation(self.rotation) @ torch.diag_embed(self.scaling.exp())
        sigma = L @ L.transpose(1, 2)
        t = self.xyz @ view.T + shift
        fx, fy = self.focal
        limx, limy = 1.3 * self.tan_fov[0], 1.3 * self.tan_fov[1]
        tz = t[:, 2]
        tx = torch.clamp(t[:, 0] / tz, -limx, limx) * tz
        ty = torch.clamp(t[:, 1] / tz, -limy, limy) * tz
        zero = torch.zeros_like(tz)
        J = torch.stack(
            [
                torch.stack([fx / tz, zero, -fx * tx / tz**2], 1),
                torch.stack([zero, fy / tz, -fy * ty / tz**2], 1),
            ],
            1,
        )
        T = J @ view
        cov = T @ sigma @ T.transpose(1, 2)
        cov = cov + 0.3 * torch.eye(2)
        a, b, c = cov[:, 0, 0], cov[:, 0, 1], cov[:, 1, 1]
        det = a * c - b * b
        conics = torch.stack([c / det, -b / det, a / det], 1)
        centres = torch.stack([fx * t[:, 0] / tz, fy * t[:, 1] / tz], 1)
        return conics, centres


def inputs():
    return torch.randn(3, 3), torch.tensor([0.1, -0.2, 6.0]) + 0.1 * torch.randn(3)
