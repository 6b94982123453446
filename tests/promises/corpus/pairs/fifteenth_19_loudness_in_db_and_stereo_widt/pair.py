"""Mastering: loudness to a level in dB, then stereo width; in decibels and as one matrix."""
import math

import torch

TARGET_DB, WIDTH, FLOOR = -16.0, 1.3, 1e-9


def decibels(audio):
    power = audio.square().mean(dim=(1, 2), keepdim=True) + FLOOR
    level = 10 * torch.log10(power)
    gain_db = TARGET_DB - level
    audio = audio * 10 ** (gain_db / 20)
    mid = (audio[:, 0] + audio[:, 1]) / 2
    side = (audio[:, 0] - audio[:, 1]) / 2 * WIDTH
    return torch.tanh(torch.stack([mid + side, mid - side], dim=1))


def matrix(audio):
    near, far = (1 + WIDTH) / 2, (1 - WIDTH) / 2
    mix = torch.tensor([[near, far], [far, near]], dtype=audio.dtype)
    level = math.sqrt(10 ** (TARGET_DB / 10))
    n = audio.shape[1] * audio.shape[2]
    gain = level * torch.rsqrt(torch.einsum("bct,bct->b", audio, audio) / n + FLOOR)
    y = gain[:, None, None] * (mix @ audio)
    return 2 * torch.sigmoid(2 * y) - 1


def left():
    return decibels


def right():
    return matrix


def inputs():
    return (torch.randn(3, 2, 20),)
