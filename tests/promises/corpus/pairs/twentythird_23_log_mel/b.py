"""The same without complex numbers, as it is exported: frames times a real basis, and the convolution as a matmul."""
import math

import torch
from a import FFT, HOP, FrontEnd
from torch import nn
from torch.nn import functional as F


class RealFrontEnd(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = FrontEnd()
        self.register_buffer("window", theirs.window)
        self.register_buffer("filters", theirs.mel_filters.t().contiguous())
        # [out, in, taps] -> [taps, in, out]
        self.taps = nn.Parameter(theirs.conv1.weight.detach().permute(2, 1, 0).contiguous())
        self.bias = nn.Parameter(theirs.conv1.bias.detach().clone())

    def basis(self):
        sample = torch.arange(FFT)[:, None]
        frequency = torch.arange(FFT // 2 + 1)[None, :]
        angle = 2 * math.pi * sample * frequency / FFT
        return torch.cos(angle), torch.sin(angle)

    def forward(self, audio):
        padded = F.pad(audio[:, None], (FFT // 2, FFT // 2), mode="reflect")[:, 0]
        frames = padded.unfold(-1, FFT, HOP)[:, :-1] * self.window
        cosine, sine = self.basis()
        power = (frames @ cosine).square() + (frames @ sine).square()
        log = torch.log((power @ self.filters).clamp(min=1e-10)) / math.log(10)
        floor = log.flatten(1).max(dim=1).values[:, None, None] - 8.0
        log = torch.where(log > floor, log, floor)
        x = F.pad(log / 4.0 + 1.0, (0, 0, 1, 1))
        time = log.shape[1]
        y = self.bias
        for tap in range(3):
            y = y + x[:, tap : tap + time] @ self.taps[tap]
        return F.gelu(y).transpose(1, 2)
