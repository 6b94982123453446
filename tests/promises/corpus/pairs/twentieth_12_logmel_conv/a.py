"""Log-mel features by torch.stft."""
import torch

FFT, HOP, MELS, RATE = 16, 4, 5, 1000.0


def filters(bins):
    """Triangles on the mel scale. [MELS, bins]"""
    top = 2595.0 * torch.log10(torch.tensor(1.0 + RATE / 2 / 700.0))
    edges = 700.0 * (10.0 ** (torch.linspace(0, 1, MELS + 2) * top / 2595.0) - 1.0)
    hertz = torch.linspace(0, RATE / 2, bins)
    rising = (hertz - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - hertz) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp(min=0)


def by_stft(wave):
    window = torch.hann_window(FFT)
    spectrum = torch.stft(wave, FFT, HOP, window=window, center=True, pad_mode="reflect", return_complex=True)
    power = spectrum.abs() ** 2
    mel = filters(FFT // 2 + 1) @ power
    log = torch.clamp(mel, min=1e-10).log10()
    log = torch.maximum(log, log.amax(dim=(1, 2), keepdim=True) - 8.0)
    return (log + 4.0) / 4.0


def inputs():
    return (torch.randn(2, 48),)
