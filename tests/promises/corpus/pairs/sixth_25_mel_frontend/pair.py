import math

import torch
import torch.nn.functional as F
from torch import nn

N_FFT, HOP, N_MELS = 8, 4, 3


def dft_basis():
    n = torch.arange(N_FFT, dtype=torch.float32)
    k = torch.arange(N_FFT // 2 + 1, dtype=torch.float32)
    phase = 2 * math.pi * k[:, None] * n[None, :] / N_FFT
    return phase.cos(), phase.sin()


def filters():
    g = torch.Generator().manual_seed(0)
    return torch.rand(N_MELS, N_FFT // 2 + 1, generator=g)


class FrameFrontend(nn.Module):
    def __init__(self):
        super().__init__()
        cos, sin = dft_basis()
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)
        self.register_buffer("window", torch.hann_window(N_FFT))
        self.register_buffer("mel", filters())

    def forward(self, wav):
        wav = F.pad(wav.unsqueeze(1), (N_FFT // 2, N_FFT // 2), mode="reflect").squeeze(1)
        frames = wav.unfold(-1, N_FFT, HOP) * self.window
        re = frames @ self.cos.t()
        im = -(frames @ self.sin.t())
        power = re.pow(2) + im.pow(2)
        mel = (power @ self.mel.t()).transpose(1, 2)
        return mel.clamp(min=1e-10).log10()


class ConvFrontend(nn.Module):
    def __init__(self):
        super().__init__()
        cos, sin = dft_basis()
        self.register_buffer("basis", torch.cat([cos, sin]))
        self.register_buffer("window", torch.hann_window(N_FFT))
        self.register_buffer("mel", filters())

    def forward(self, wav):
        p = N_FFT // 2
        head = wav[:, 1 : p + 1].flip(1)
        tail = wav[:, -p - 1 : -1].flip(1)
        x = torch.cat([head, wav, tail], 1)[:, None]
        kernel = (self.basis * self.window)[:, None]
        re, im = F.conv1d(x, kernel, stride=HOP).chunk(2, dim=1)
        power = re * re + im * im
        mel = torch.einsum("mf,bft->bmt", self.mel, power)
        return torch.log10(torch.clamp(mel, min=1e-10))


left = FrameFrontend()
right = ConvFrontend()
inputs = (torch.randn(2, 24),)
