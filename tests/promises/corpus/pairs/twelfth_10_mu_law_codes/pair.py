"""Mu-law companding of audio into integer codes."""
import math

import torch


def left(x, quantization_channels=32):
    """torchaudio.functional.mu_law_encoding"""
    mu = quantization_channels - 1.0
    x = x.clamp(-1, 1)
    x_mu = torch.sign(x) * torch.log1p(mu * torch.abs(x)) / math.log1p(mu)
    return ((x_mu + 1) / 2 * mu + 0.5).to(torch.int64)


def right(x, bits=5):
    mu = 2**bits - 1
    x = torch.clamp(x, min=-1.0, max=1.0)
    compressed = torch.sign(x) * torch.log(1 + mu * x.abs()) / math.log(1 + mu)
    return ((compressed + 1) * 0.5 * mu).long()


def inputs():
    return (torch.rand(2, 20) * 2 - 1,)
