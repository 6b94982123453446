import torch


def schedule():
    abar = torch.cumprod(1.0 - torch.linspace(1e-4, 0.02, 50), dim=0)
    return abar.sqrt(), (1 - abar).sqrt()


SIGNAL, NOISE = schedule()


def program(sample, velocity, timestep, previous):
    """The same as a rotation: x ← cos(φ) x − sin(φ) v."""
    a, s = SIGNAL[timestep], NOISE[timestep]
    a_prev, s_prev = SIGNAL[previous], NOISE[previous]
    cos = a_prev * a + s_prev * s
    sin = a_prev * s - s_prev * a
    return torch.einsum("b,bchw->bchw", cos, sample) - torch.einsum("b,bchw->bchw", sin, velocity)
