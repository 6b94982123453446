"""Kuramoto oscillators, all coupled to all: four Euler steps."""
import torch

COUPLING = 1.5
DT = 0.1
STEPS = 4


def left(theta, omega):
    """Every pair."""
    for _ in range(STEPS):
        difference = theta.unsqueeze(1) - theta.unsqueeze(2)
        theta = theta + DT * (omega + COUPLING * torch.sin(difference).mean(dim=-1))
    return theta


def right(theta, omega):
    """By the complex order parameter r * exp(i * psi), in linear time."""
    phase = theta
    for _ in range(STEPS):
        s, c = torch.sin(phase), torch.cos(phase)
        r_sin = s.mean(-1, keepdim=True)
        r_cos = c.mean(-1, keepdim=True)
        phase = phase + DT * omega + DT * COUPLING * (r_sin * c - r_cos * s)
    return phase


inputs = (torch.randn(2, 5), torch.randn(2, 5))
