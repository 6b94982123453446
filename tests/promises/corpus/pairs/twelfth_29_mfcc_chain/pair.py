"""MFCC of a batch of signals: frames, window, power, mel bands, logarithm, DCT, lifter."""
import math

import torch
from torch import nn
from torch.nn import functional as F

FRAME, HOP, BANDS, CEPS, LIFTER = 16, 6, 6, 5, 22


def mel_bank():
    """Triangles over the bins of the transform."""
    edges = torch.linspace(0, 1, BANDS + 2) ** 1.5 * (FRAME // 2)
    bins = torch.arange(FRAME // 2 + 1)
    rising = (bins[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins[:, None]) / (edges[2:] - edges[1:-1])
    return torch.minimum(rising, falling).clamp(min=0)


class MFCC(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(FRAME, periodic=False))
        self.register_buffer("mel", mel_bank())

    def forward(self, signal):
        frames = signal.unfold(-1, FRAME, HOP) * self.window
        power = torch.fft.rfft(frames).abs() ** 2 / FRAME
        energy = torch.log(power @ self.mel + 1e-6)
        # DCT-II by the transform of the mirrored sequence
        spectrum = torch.fft.rfft(torch.cat([energy, energy.flip(-1)], dim=-1))
        k = torch.arange(CEPS)
        angle = math.pi * k / (2 * BANDS)
        dct = 0.5 * (spectrum.real[..., :CEPS] * torch.cos(angle) + spectrum.imag[..., :CEPS] * torch.sin(angle))
        scale = torch.where(k == 0, math.sqrt(1 / BANDS), math.sqrt(2 / BANDS))
        return dct * scale * (1 + LIFTER / 2 * torch.sin(math.pi * k / LIFTER))


class MatrixMFCC(nn.Module):
    """Everything as three matrices, for a runtime without FFT."""

    def __init__(self):
        super().__init__()
        t = torch.arange(FRAME)
        window = 0.5 - 0.5 * torch.cos(2 * math.pi * t / (FRAME - 1))
        phase = 2 * math.pi * t[:, None] * torch.arange(FRAME // 2 + 1) / FRAME
        self.register_buffer("dft", torch.cat([phase.cos(), phase.sin()], dim=1) * window[:, None])
        self.register_buffer("mel", mel_bank() / FRAME)
        n, k = torch.arange(BANDS), torch.arange(CEPS)
        basis = torch.cos(math.pi * (n[:, None] + 0.5) * k / BANDS) * math.sqrt(2 / BANDS)
        basis[:, 0] = math.sqrt(1 / BANDS)
        self.register_buffer("dct", basis * (1 + LIFTER / 2 * torch.sin(math.pi * k / LIFTER)))

    def forward(self, signal):
        count = (signal.shape[-1] - FRAME) // HOP + 1
        index = torch.arange(count)[:, None] * HOP + torch.arange(FRAME)
        re, im = (signal[:, index] @ self.dft).chunk(2, dim=-1)
        return torch.log((re.square() + im.square()) @ self.mel + 1e-6) @ self.dct


left = MFCC
right = MatrixMFCC
inputs = (torch.randn(2, 40),)
