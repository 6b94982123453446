import torch


def frames(wave, size=8, hop=4):
    wave = torch.cat([wave[:, :1] - 0.97 * wave[:, :1], wave[:, 1:] - 0.97 * wave[:, :-1]], dim=1)
    window = torch.hamming_window(size, periodic=False, dtype=wave.dtype)
    return wave.unfold(1, size, hop) * window


def inputs():
    return (torch.randn(2, 26),)
