import torch
from torch.nn import functional as F

LAPLACE = torch.tensor([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])


def program(u, source):
    """Three explicit steps of the heat equation on a torus."""
    dt, kappa = 0.1, 0.7
    kernel = LAPLACE.to(u.dtype)[None, None]
    for _ in range(3):
        padded = F.pad(u.unsqueeze(1), (1, 1, 1, 1), mode="circular")
        u = u + dt * (kappa * F.conv2d(padded, kernel).squeeze(1) + source)
    return u
