"""Log-mel features in the manner of Whisper, by torch.stft."""
import torch
from torch import nn

N_FFT, HOP = 8, 4


def mel_filters(n_mels=3, bins=N_FFT // 2 + 1):
    edges = torch.linspace(0, bins - 1, n_mels + 2)
    f = torch.arange(bins, dtype=edges.dtype)
    up = (f - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - f) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(up, down).clamp(min=0)


class LogMel(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("filters", mel_filters())
        self.register_buffer("window", torch.hann_window(N_FFT))

    def forward(self, audio):
        stft = torch.stft(audio, N_FFT, HOP, window=self.window, center=True, pad_mode="reflect", return_complex=True)
        magnitudes = stft[..., :-1].abs() ** 2
        mel = self.filters @ magnitudes
        log_spec = torch.clamp(mel, min=1e-10).log10()
        log_spec = torch.maximum(log_spec, log_spec.amax(dim=(1, 2), keepdim=True) - 8.0)
        return (log_spec + 4.0) / 4.0


def inputs():
    return (torch.randn(2, 32),)
