import math

import torch
from torch import nn


def mel_filters(bins=17, mels=6, rate=8000.0):
    def to_mel(hz):
        return 2595.0 * math.log10(1.0 + hz / 700.0)

    def to_hz(mel):
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)

    top = to_mel(rate / 2)
    edges = torch.tensor([to_hz(top * i / (mels + 1)) for i in range(mels + 2)])
    freqs = torch.linspace(0, rate / 2, bins)
    up = (freqs[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[2:] - freqs[:, None]) / (edges[2:] - edges[1:-1])
    return torch.minimum(up, down).clamp(min=0)


class LogMel(nn.Module):
    def __init__(self, n_fft=32, hop=8):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        angle = 2 * math.pi / n_fft * torch.outer(torch.arange(n_fft), torch.arange(n_fft // 2 + 1))
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("cosine", torch.cos(angle))
        self.register_buffer("sine", torch.sin(angle))
        self.register_buffer("filters", mel_filters(n_fft // 2 + 1))

    def forward(self, wave):
        frames = wave.unfold(-1, self.n_fft, self.hop) * self.window
        real, imag = frames @ self.cosine, -(frames @ self.sine)
        power = real**2 + imag**2
        return torch.log(torch.clamp(power @ self.filters, min=1e-5)).transpose(1, 2)


program = LogMel().eval()
