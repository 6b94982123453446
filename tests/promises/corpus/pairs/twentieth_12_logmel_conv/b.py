"""The same without complex numbers, for export: the transform is a strided convolution."""
import math

import torch
from torch.nn import functional as F

from a import FFT, HOP, filters


def basis():
    n = torch.arange(FFT)
    k = torch.arange(FFT // 2 + 1)
    angle = 2 * math.pi / FFT * (k[:, None] * n)
    window = 0.5 - 0.5 * torch.cos(2 * math.pi / FFT * n)
    return torch.cat((torch.cos(angle), -torch.sin(angle))) * window


def by_conv(wave):
    padded = F.pad(wave.unsqueeze(1), (FFT // 2, FFT // 2), mode="reflect")
    both = F.conv1d(padded, basis().unsqueeze(1), stride=HOP)
    real, imaginary = both.chunk(2, dim=1)
    power = real.square() + imaginary.square()
    mel = torch.einsum("mk,bkt->bmt", filters(FFT // 2 + 1), power)
    log = torch.log10(mel.clamp_min(1e-10))
    floor = log.flatten(1).max(1).values - 8.0
    log = torch.maximum(log, floor[:, None, None])
    return log / 4.0 + 1.0
