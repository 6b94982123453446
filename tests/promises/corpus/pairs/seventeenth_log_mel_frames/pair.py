"""Whisper's log-mel features by torch.stft, and by frames for an engine without stft."""
import math

import torch
from torch import nn
from torch.nn import functional as F

N_FFT, HOP, MELS = 32, 16, 6
B, L = 2, 96


def triangles():
    centres = torch.linspace(0, N_FFT // 2, MELS + 2)
    bins = torch.arange(N_FFT // 2 + 1).to(centres.dtype)
    up = (bins[None] - centres[:-2, None]) / (centres[1:-1] - centres[:-2])[:, None]
    down = (centres[2:, None] - bins[None]) / (centres[2:] - centres[1:-1])[:, None]
    return torch.minimum(up, down).clamp(min=0)


class WhisperFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mel_filters", triangles())

    def forward(self, waveform):
        window = torch.hann_window(N_FFT, dtype=waveform.dtype)
        stft = torch.stft(waveform, N_FFT, HOP, window=window, return_complex=True)
        magnitudes = stft[..., :-1].abs() ** 2
        mel_spec = self.mel_filters @ magnitudes
        log_spec = torch.clamp(mel_spec, min=1e-10).log10()
        max_val = log_spec.max(dim=2, keepdim=True)[0].max(dim=1, keepdim=True)[0]
        log_spec = torch.maximum(log_spec, max_val - 8.0)
        return (log_spec + 4.0) / 4.0


class FramedFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mel_filters", triangles())

    def forward(self, waveform):
        padded = F.pad(waveform, (N_FFT // 2, N_FFT // 2), mode="reflect")
        frames = padded.unfold(-1, N_FFT, HOP)[:, :-1]
        n = torch.arange(N_FFT).to(waveform.dtype)
        window = 0.5 - 0.5 * torch.cos(2 * math.pi * n / N_FFT)
        spectrum = torch.fft.rfft(frames * window, dim=-1)
        power = spectrum.real.square() + spectrum.imag.square()
        mel = torch.einsum("btf,mf->bmt", power, self.mel_filters)
        log_mel = mel.clamp(min=1e-10).log10()
        floor = log_mel.amax(dim=(1, 2), keepdim=True) - 8.0
        return log_mel.clamp(min=floor) * 0.25 + 1.0


left = WhisperFeatures
right = FramedFeatures


def inputs():
    return (0.1 * torch.randn(B, L),)
