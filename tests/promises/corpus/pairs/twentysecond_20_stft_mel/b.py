"""The front end for a runtime without an FFT: frames by a strided convolution with cosines and sines."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class ConvLogMel(nn.Module):
    def __init__(self, n_fft=16, hop=4, mels=5, preemphasis=0.97):
        super().__init__()
        self.n_fft, self.hop, self.preemphasis = n_fft, hop, preemphasis
        self.filters = nn.Parameter(torch.rand(n_fft // 2 + 1, mels))
        self.register_buffer("window", torch.hann_window(n_fft))
        self.out = nn.Linear(mels, 3)

    def basis(self):
        """[2 · bins, 1, n_fft]: windowed cosines, then windowed sines."""
        n, k = torch.arange(self.n_fft), torch.arange(self.n_fft // 2 + 1)
        angle = 2 * math.pi * ((k[:, None] * n[None, :]) % self.n_fft) / self.n_fft
        return (torch.cat([torch.cos(angle), torch.sin(angle)]) * self.window)[:, None]

    def forward(self, wave):
        shifted = F.pad(wave, (1, 0))[:, :-1]
        emphasised = wave - self.preemphasis * shifted
        half = self.n_fft // 2
        padded = F.pad(emphasised[:, None], (half, half), mode="reflect")
        real, imaginary = F.conv1d(padded, self.basis(), stride=self.hop).chunk(2, dim=1)
        power = real * real + imaginary * imaginary
        mel = torch.einsum("bft,fm->btm", power, self.filters.abs())
        logmel = torch.log(mel + 1e-6)
        frames = logmel.shape[1]
        centred = logmel - logmel.sum(1, keepdim=True) / frames
        return F.linear(centred, self.out.weight, self.out.bias)
