# EQUAL
"""One explicit Euler step of the 2-D heat equation on a torus."""
import torch
import torch.nn.functional as F

DT, NU, H = 0.01, 0.5, 0.25


def left(u):
    lap = (
        torch.roll(u, 1, 0) + torch.roll(u, -1, 0)
        + torch.roll(u, 1, 1) + torch.roll(u, -1, 1)
        - 4 * u
    ) / H**2
    return u + DT * NU * lap


def right(u):
    stencil = torch.tensor([[0., 1., 0.], [1., -4., 1.], [0., 1., 0.]], dtype=u.dtype)
    padded = F.pad(u[None, None], (1, 1, 1, 1), mode="circular")
    lap = F.conv2d(padded, stencil[None, None])[0, 0]
    return torch.add(u, lap, alpha=DT * NU / H**2)


torch.manual_seed(11)
inputs = (torch.randn(6, 9),)
