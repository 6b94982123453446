# EQUAL
import torch
import torch.nn.functional as F


def left(spec):
    """Delta coefficients as torchaudio computes them: regression over 2N+1 frames, edges replicated. spec [B, F, T]."""
    N = 2
    denom = N * (N + 1) * (2 * N + 1) / 3
    b, f, t = spec.shape
    x = spec.reshape(1, -1, t)
    x = F.pad(x, (N, N), mode="replicate")
    kernel = torch.arange(-N, N + 1, dtype=spec.dtype).repeat(x.shape[1], 1, 1)
    return (F.conv1d(x, kernel, groups=x.shape[1]) / denom).reshape(b, f, t)


def right(spec):
    """HTK book, equation 5.16: sum_n n (c[t+n] - c[t-n]) / (2 sum_n n^2), with clamped indices."""
    T = spec.shape[-1]
    frames = torch.arange(T)
    total = torch.zeros_like(spec)
    for n in (1, 2):
        ahead = spec[..., (frames + n).clamp(max=T - 1)]
        behind = spec[..., (frames - n).clamp(min=0)]
        total = total + n * (ahead - behind)
    return total / (2 * sum(n * n for n in (1, 2)))


def inputs():
    return (torch.randn(2, 4, 9),)
