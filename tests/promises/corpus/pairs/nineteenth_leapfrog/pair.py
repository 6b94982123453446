"""Two time steps of softened gravity: leapfrog on the gradient of a potential, or velocity Verlet on pair forces."""
import torch

DT, SOFT = 0.125, 0.25


def potential(x, mass):
    i, j = torch.triu_indices(x.shape[0], x.shape[0], 1)
    r = torch.sqrt((x[i] - x[j]).pow(2).sum(-1) + SOFT**2)
    return -(mass[i] * mass[j] / r).sum()


def kick_drift_kick(x, v, log_mass):
    mass = log_mass.exp()

    def acceleration(x):
        x = x.detach().requires_grad_()
        (g,) = torch.autograd.grad(potential(x, mass), x)
        return -g / mass[:, None]

    for _ in range(2):
        v = v + DT / 2 * acceleration(x)
        x = x + DT * v
        v = v + DT / 2 * acceleration(x)
    return x, v


def pull(x, mass):
    gap = x[None, :] - x[:, None]
    squared = (gap * gap).sum(-1) + SOFT * SOFT
    return torch.einsum("j,ij,ijd->id", mass, squared.pow(-1.5), gap)


def velocity_verlet(x, v, log_mass):
    mass = torch.exp(log_mass)
    a = pull(x, mass)
    for _ in range(2):
        x = x + v * DT + a * (DT * DT / 2)
        then = pull(x, mass)
        v = v + (a + then) * (DT / 2)
        a = then
    return x, v


def inputs():
    return torch.randn(4, 3), torch.randn(4, 3), 0.3 * torch.randn(4)
