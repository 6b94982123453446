# EQUAL
import math
import torch

WIN = 8
HOP = 4


def left(wave):
    return wave.unfold(-1, WIN, HOP) * torch.hann_window(WIN, dtype=wave.dtype)


def right(wave):
    count = (wave.shape[-1] - WIN) // HOP + 1
    n = torch.arange(WIN)
    where = torch.arange(count)[:, None] * HOP + n[None, :]
    taper = 0.5 - 0.5 * torch.cos(2 * math.pi * n.to(wave.dtype) / WIN)
    return wave[:, where] * taper


inputs = (torch.randn(2, 30, generator=torch.Generator().manual_seed(77)),)
