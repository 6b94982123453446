"""Energy and forces of argon in a periodic box; the forces by autograd."""
import torch

EPSILON, SIGMA, BOX, CUTOFF = 0.8, 1.1, 6.0, 2.5


def pair_energy(r2):
    s6 = (SIGMA ** 2 / r2) ** 3
    return 4 * EPSILON * (s6 ** 2 - s6)


def energy(pos):
    n = pos.shape[0]
    i, j = torch.triu_indices(n, n, offset=1)
    d = pos[i] - pos[j]
    d = d - BOX * torch.round(d / BOX)
    r2 = (d ** 2).sum(-1)
    shift = 4 * EPSILON * ((SIGMA / CUTOFF) ** 12 - (SIGMA / CUTOFF) ** 6)
    e = torch.where(r2 < CUTOFF ** 2, pair_energy(r2) - shift, torch.zeros_like(r2))
    return e.sum()


def energy_and_forces(pos):
    pos = pos.detach().requires_grad_(True)
    e = energy(pos)
    (grad,) = torch.autograd.grad(e, pos)
    return e.detach(), -grad


def inputs():
    grid = torch.cartesian_prod(*[torch.arange(2.0)] * 3)[:5] * 1.4
    return (grid + 0.1 * torch.randn(5, 3),)
