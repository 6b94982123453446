"""A truncated and shifted Lennard-Jones fluid in a periodic box: forces by autograd, and by hand."""
import torch

EPSILON, SIGMA, CUTOFF, BOX = 0.75, 1.25, 2.5, 6.0
SIDE = 2
SHIFT = 4 * EPSILON * ((SIGMA / CUTOFF) ** 12 - (SIGMA / CUTOFF) ** 6)


def left(positions):
    with torch.enable_grad():
        x = positions.detach().clone().requires_grad_(True)
        i, j = torch.triu_indices(x.shape[0], x.shape[0], offset=1)
        d = x[i] - x[j]
        d = d - BOX * torch.round(d / BOX)
        r2 = (d * d).sum(-1)
        s6 = (SIGMA**2 / r2) ** 3
        pair = 4 * EPSILON * (s6**2 - s6) - SHIFT
        energy = torch.where(r2 < CUTOFF**2, pair, torch.zeros_like(pair)).sum()
        (grad,) = torch.autograd.grad(energy, x)
    return energy.detach(), -grad


def right(positions):
    n = positions.shape[0]
    d = positions[:, None] - positions[None]
    d = d - BOX * torch.round(d / BOX)
    own = torch.eye(n, dtype=torch.bool)
    r2 = d.square().sum(-1).masked_fill(own, 1.0)
    inv2 = 1.0 / r2
    s6 = SIGMA**6 * inv2**3
    s12 = s6 * s6
    near = (r2 < CUTOFF**2) & ~own
    energy = 0.5 * ((4 * EPSILON * (s12 - s6) - SHIFT) * near).sum()
    strength = 24 * EPSILON * (2 * s12 - s6) * inv2 * near
    return energy, (strength[..., None] * d).sum(1)


def inputs():
    grid = torch.cartesian_prod(*[torch.arange(SIDE).to(torch.get_default_dtype())] * 3)
    return (1.3 * grid[:7] + 0.15 * torch.randn(7, 3),)
