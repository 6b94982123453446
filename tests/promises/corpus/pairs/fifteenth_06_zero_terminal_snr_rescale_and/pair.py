"""A noise schedule rescaled to zero terminal SNR, with the v target of a training batch."""
import torch
from torch import nn

STEPS = 60


def scaled_linear():
    return torch.linspace(0.02**0.5, 0.15**0.5, STEPS) ** 2


class Betas(nn.Module):
    """Rescales the betas, as in the paper, and takes the cumulative product of the new ones."""

    def __init__(self):
        super().__init__()
        root = (1 - scaled_linear()).cumprod(0).sqrt()
        first, last = root[0].clone(), root[-1].clone()
        root = (root - last) * first / (first - last)
        bar = root**2
        alphas = torch.cat([bar[:1], bar[1:] / bar[:-1]])
        self.register_buffer("bar", alphas.cumprod(0))

    def forward(self, x0, noise, t):
        bar = self.bar[t].view(-1, 1, 1, 1)
        noisy = bar.sqrt() * x0 + (1 - bar).sqrt() * noise
        v = bar.sqrt() * noise - (1 - bar).sqrt() * x0
        return noisy, v


class Direct(nn.Module):
    """Keeps the rescaled table of cumulative products at once."""

    def __init__(self):
        super().__init__()
        bar = torch.cumprod(1 - scaled_linear(), 0)
        bar = (bar - bar[-1]) * (bar[0] / (bar[0] - bar[-1]))
        self.register_buffer("signal", bar.sqrt())
        self.register_buffer("sigma", (1 - bar).sqrt())

    def forward(self, x0, noise, t):
        a, s = self.signal[t][:, None, None, None], self.sigma[t][:, None, None, None]
        return a * x0 + s * noise, a * noise - s * x0


def left():
    return Betas()


def right():
    return Direct()


def inputs():
    return torch.randn(4, 3, 5, 6), torch.randn(4, 3, 5, 6), torch.randint(5, STEPS - 5, (4,))
