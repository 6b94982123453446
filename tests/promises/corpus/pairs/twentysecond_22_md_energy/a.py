"""Energy of Lennard-Jones particles in a periodic box: nearest images by rounding, types mixed by Lorentz and Berthelot."""

import torch
from torch import nn


class PeriodicLJ(nn.Module):
    def __init__(self, types=3, box=(5.0, 6.0, 7.0), cutoff=2.5):
        super().__init__()
        self.log_epsilon = nn.Parameter(0.3 * torch.randn(types))
        self.log_sigma = nn.Parameter(0.1 * torch.randn(types))
        self.register_buffer("box", torch.tensor(box))
        self.cutoff = cutoff

    def forward(self, positions, kinds):
        """positions [N, 3], as the trajectory has them (not wrapped), kinds [N] → the energy of each particle."""
        N = positions.shape[0]
        epsilon, sigma = self.log_epsilon.exp()[kinds], self.log_sigma.exp()[kinds]
        d = positions[:, None] - positions[None, :]
        d = d - self.box * torch.round(d / self.box)
        r2 = (d * d).sum(-1) + torch.eye(N)
        eps = torch.sqrt(epsilon[:, None] * epsilon[None, :])
        sig = 0.5 * (sigma[:, None] + sigma[None, :])
        s6 = (sig * sig / r2.clamp(min=0.25)) ** 3
        energy = 4 * eps * (s6 * s6 - s6)
        c6 = (sig / self.cutoff) ** 6
        energy = energy - 4 * eps * (c6 * c6 - c6)                        # shifted to 0 at the cutoff
        near = (r2 < self.cutoff**2) & ~torch.eye(N, dtype=torch.bool)
        return 0.5 * torch.where(near, energy, 0.0).sum(1)


def inputs():
    box = torch.tensor([5.0, 6.0, 7.0])
    wrapped = torch.rand(8, 3) * box
    return wrapped + box * torch.randint(-1, 2, (8, 3)), torch.randint(0, 3, (8,))
