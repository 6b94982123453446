"""The log-mel front end of Whisper, in small, and the first convolution after it."""
import torch
from torch import nn
from torch.nn import functional as F

FFT, HOP, MELS, WIDTH = 16, 4, 5, 6


def mel_filters():
    """Triangles over the frequencies of the transform, [MELS, FFT / 2 + 1]."""
    edges = torch.linspace(0, FFT // 2, MELS + 2)
    frequency = torch.arange(FFT // 2 + 1)
    rise = (frequency[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - frequency[None]) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rise, fall).clamp(min=0)


class FrontEnd(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(FFT))
        self.register_buffer("mel_filters", mel_filters())
        self.conv1 = nn.Conv1d(MELS, WIDTH, 3, padding=1)

    def forward(self, audio):
        spectrum = torch.stft(audio, FFT, HOP, window=self.window, return_complex=True)
        power = spectrum[..., :-1].abs() ** 2
        mel = self.mel_filters @ power
        log = torch.clamp(mel, min=1e-10).log10()
        log = torch.maximum(log, log.amax(dim=(1, 2), keepdim=True) - 8.0)
        return F.gelu(self.conv1((log + 4.0) / 4.0))


def inputs():
    return (torch.randn(2, 48),)
