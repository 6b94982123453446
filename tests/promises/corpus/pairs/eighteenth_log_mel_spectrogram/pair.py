import torch
from torch.nn import functional as F

N_FFT, HOP = 16, 4


def by_stft(wave, filters):
    """Whisper's log-mel features."""
    window = torch.hann_window(N_FFT, dtype=wave.dtype)
    stft = torch.stft(wave, N_FFT, HOP, window=window, center=True, pad_mode="reflect", return_complex=True)
    magnitudes = stft[..., :-1].abs() ** 2
    mel = filters @ magnitudes
    log_spec = torch.clamp(mel, min=1e-10).log10()
    log_spec = torch.maximum(log_spec, log_spec.amax(dim=(-2, -1), keepdim=True) - 8.0)
    return (log_spec + 4.0) / 4.0


def by_frames(wave, filters):
    """Frames cut by hand, one real FFT each."""
    n = torch.arange(N_FFT, dtype=wave.dtype)
    window = 0.5 - 0.5 * torch.cos(2 * torch.pi * n / N_FFT)
    padded = F.pad(wave[:, None], (N_FFT // 2, N_FFT // 2), mode="reflect")[:, 0]
    frames = padded.unfold(-1, N_FFT, HOP)[:, :-1]
    spectrum = torch.view_as_real(torch.fft.rfft(frames * window, dim=-1))
    power = spectrum.square().sum(-1)
    mel = torch.einsum("btf,mf->bmt", power, filters)
    log_spec = mel.clamp_min(1e-10).log10()
    floor = log_spec.flatten(1).max(dim=1).values - 8.0
    return torch.max(log_spec, floor[:, None, None]) / 4.0 + 1.0


def example(B=2, S=48, M=5):
    return torch.randn(B, S), torch.rand(M, N_FFT // 2 + 1)


def inputs():
    return example()
