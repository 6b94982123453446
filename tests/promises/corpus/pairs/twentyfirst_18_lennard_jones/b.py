"""The same by formula, all pairs in a matrix, to run in the inner loop without autograd."""
import torch

EPSILON, SIGMA, BOX, CUTOFF = 0.8, 1.1, 6.0, 2.5


@torch.no_grad()
def energy_and_forces(pos):
    n = pos.shape[0]
    delta = pos.unsqueeze(1) - pos.unsqueeze(0)                 # i - j
    delta = delta - torch.round(delta / BOX) * BOX
    eye = torch.eye(n, dtype=torch.bool, device=pos.device)
    r2 = torch.einsum("ijc,ijc->ij", delta, delta).masked_fill(eye, 1.0)
    near = (r2 < CUTOFF * CUTOFF) & ~eye
    inv2 = 1.0 / r2
    s6 = SIGMA ** 6 * inv2 * inv2 * inv2
    at_cutoff = (SIGMA / CUTOFF) ** 6
    e = 4 * EPSILON * (s6 * (s6 - 1) - at_cutoff * (at_cutoff - 1))
    total = 0.5 * (e * near).sum()
    strength = 24 * EPSILON * inv2 * s6 * (2 * s6 - 1) * near
    forces = (strength.unsqueeze(-1) * delta).sum(dim=1)
    return total, forces
