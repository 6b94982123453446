import math

import torch
from torch.nn import functional as F


def frames(wave, size=8, hop=4):
    kernel = torch.tensor([[[-0.97, 1.0]]], dtype=wave.dtype)
    wave = F.conv1d(F.pad(wave[:, None], (1, 0), mode="replicate"), kernel)[:, 0]
    count = 1 + (wave.shape[1] - size) // hop
    index = torch.arange(count)[:, None] * hop + torch.arange(size)[None, :]
    n = torch.arange(size, dtype=wave.dtype)
    return wave[:, index] * (0.54 - 0.46 * torch.cos(2 * math.pi * n / (size - 1)))


def inputs():
    return (torch.randn(2, 26),)
