"""Log-mel for a runtime without FFT: a strided convolution with windowed cosines and sines."""
import math
import torch
from torch import nn
from torch.nn import functional as F

from a import HOP, N_FFT, mel_filters


class ConvMel(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("filters", mel_filters())
        self.register_buffer("window", torch.hann_window(N_FFT))

    def basis(self):
        n = torch.arange(N_FFT, dtype=self.window.dtype)
        k = torch.arange(N_FFT // 2 + 1, dtype=self.window.dtype)
        angle = 2 * math.pi / N_FFT * k[:, None] * n[None]
        return torch.cat([torch.cos(angle), -torch.sin(angle)]) * self.window

    def forward(self, audio):
        half = N_FFT // 2
        left, right = audio[:, 1:half + 1].flip(1), audio[:, -half - 1:-1].flip(1)
        padded = torch.cat([left, audio, right], 1)
        spec = F.conv1d(padded[:, None], self.basis()[:, None], stride=HOP)
        re, im = spec[:, :half + 1, :-1], spec[:, half + 1:, :-1]
        power = re * re + im * im
        mel = torch.einsum("mf,bft->bmt", self.filters, power)
        log_spec = torch.log(mel.clamp_min(1e-10)) / math.log(10)
        top = log_spec.flatten(1).max(1).values[:, None, None]
        return log_spec.clamp(min=top - 8) / 4 + 1
