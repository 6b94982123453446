"""A front end for audio: torch.stft, power, a learnt filter bank over frequencies, logarithm, mean over time removed."""

import torch
from torch import nn


class LogMel(nn.Module):
    def __init__(self, n_fft=16, hop=4, mels=5, preemphasis=0.97):
        super().__init__()
        self.n_fft, self.hop, self.preemphasis = n_fft, hop, preemphasis
        self.filters = nn.Parameter(torch.rand(n_fft // 2 + 1, mels))
        self.register_buffer("window", torch.hann_window(n_fft))
        self.out = nn.Linear(mels, 3)

    def forward(self, wave):
        """wave [B, samples] → [B, frames, 3]."""
        emphasised = torch.cat([wave[:, :1], wave[:, 1:] - self.preemphasis * wave[:, :-1]], dim=1)
        spectrum = torch.stft(
            emphasised, self.n_fft, self.hop, window=self.window, center=True, pad_mode="reflect", return_complex=True
        )
        power = spectrum.abs().pow(2)                                     # [B, bins, frames]
        mel = torch.matmul(power.transpose(1, 2), self.filters.abs())
        logmel = torch.log(mel + 1e-6)
        logmel = logmel - logmel.mean(dim=1, keepdim=True)
        return self.out(logmel)


def inputs():
    return (torch.randn(2, 50),)
