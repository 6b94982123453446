"""Stein variational gradient descent on a banana: with autograd, and in closed form."""
import torch

STEPS, RATE, GAMMA = 2, 0.05, 0.7


def log_density(x):
    return -0.5 * x[:, 0] ** 2 - 2 * (x[:, 1] - x[:, 0] ** 2) ** 2


def with_autograd(particles):
    for _ in range(STEPS):
        x = particles.detach().clone().requires_grad_(True)
        score = torch.autograd.grad(log_density(x).sum(), x)[0]
        other = x.detach()
        distance = (x[:, None] - other[None]).pow(2).sum(-1)
        kernel = torch.exp(-GAMMA * distance)
        repulsion = -torch.autograd.grad(kernel.sum(), x)[0]
        phi = (kernel.detach() @ score + repulsion) / x.shape[0]
        particles = other + RATE * phi
    return particles


def closed_form(particles):
    x = particles
    for _ in range(STEPS):
        bend = x[:, 1] - x[:, 0].square()
        score = torch.stack([8 * x[:, 0] * bend - x[:, 0], -4 * bend], dim=1)
        gram = x @ x.T
        norm = gram.diagonal()
        kernel = torch.exp(GAMMA * (2 * gram - norm[:, None] - norm[None, :]))
        repulsion = 2 * GAMMA * (kernel.sum(1, keepdim=True) * x - kernel @ x)
        x = x + RATE * (kernel @ score + repulsion).div(len(x))
    return x


def left():
    return with_autograd


def right():
    return closed_form


def inputs():
    return (torch.randn(6, 2),)
