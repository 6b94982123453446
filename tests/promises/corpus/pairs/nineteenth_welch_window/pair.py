"""Power spectral density by Welch's method: frames, window, periodogram, mean."""
import math

import torch

SIZE, HOP, RATE = 12, 6, 100.0


def torch_welch(x):
    window = torch.hann_window(SIZE)
    frames = x.unfold(-1, SIZE, HOP)
    frames = (frames - frames.mean(-1, keepdim=True)) * window
    spectrum = torch.fft.rfft(frames)
    density = spectrum.abs().square() / (RATE * window.square().sum())
    density[..., 1:-1] *= 2                                           # one-sided
    return density.mean(-2)


def port(x):
    n = torch.arange(SIZE)
    window = torch.sin(math.pi * n / (SIZE - 1)) ** 2
    starts = range(0, x.shape[-1] - SIZE + 1, HOP)
    frames = torch.stack([x[..., s : s + SIZE] for s in starts], dim=-2)
    frames = (frames - frames.mean(-1, keepdim=True)) * window
    k = torch.arange(SIZE // 2 + 1)
    turn = 2 * math.pi / SIZE * (n[:, None] * k)
    power = (frames @ turn.cos()) ** 2 + (frames @ turn.sin()) ** 2
    sides = torch.where((k == 0) | (k == SIZE // 2), 1.0, 2.0)
    return (power * sides).mean(-2) / (RATE * (window @ window))


left, right = torch_welch, port


def inputs():
    return (torch.randn(2, 36),)
