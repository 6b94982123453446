"""Lennard-Jones energy of a periodic box with learnt parameters for each species; forces by autograd, each pair once."""
import torch
from torch import nn

SPECIES, BOX = 3, 6.0


class LennardJones(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_sigma = nn.Parameter(0.1 * torch.randn(SPECIES))
        self.log_epsilon = nn.Parameter(0.1 * torch.randn(SPECIES))

    def energy(self, positions, species):
        i, j = torch.triu_indices(len(positions), len(positions), offset=1)
        difference = positions[i] - positions[j]
        difference = difference - BOX * torch.round(difference / BOX)
        distance = difference.norm(dim=-1)
        sigma, epsilon = self.log_sigma.exp(), self.log_epsilon.exp()
        sigma = 0.5 * (sigma[species[i]] + sigma[species[j]])
        epsilon = torch.sqrt(epsilon[species[i]] * epsilon[species[j]])
        ratio = sigma / distance
        return (4 * epsilon * (ratio**12 - ratio**6)).sum()

    def forward(self, positions, species):
        positions = positions.detach().requires_grad_(True)
        energy = self.energy(positions, species)
        (gradient,) = torch.autograd.grad(energy, positions)
        return energy.detach(), -gradient


def inputs():
    return BOX * torch.rand(5, 3), torch.randint(0, SPECIES, (5,))
