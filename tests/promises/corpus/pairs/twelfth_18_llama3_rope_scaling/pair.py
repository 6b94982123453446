"""Rotary embedding with the frequency scaling of Llama 3.1."""
import math

import torch

DIM, BASE = 16, 10000.0
FACTOR, LOW, HIGH, OLD_CONTEXT = 8.0, 1.0, 4.0, 64


def hf_inv_freq():
    inv_freq = 1.0 / (BASE ** (torch.arange(0, DIM, 2) / DIM))
    low_wavelen, high_wavelen = OLD_CONTEXT / LOW, OLD_CONTEXT / HIGH
    wavelen = 2 * math.pi / inv_freq
    scaled = torch.where(wavelen > low_wavelen, inv_freq / FACTOR, inv_freq)
    smooth = (OLD_CONTEXT / wavelen - LOW) / (HIGH - LOW)
    smoothed = (1 - smooth) * scaled / FACTOR + smooth * scaled
    medium = ~(wavelen < high_wavelen) * ~(wavelen > low_wavelen)
    return torch.where(medium, smoothed, scaled)


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def left(q, k, position_ids):
    freqs = position_ids[:, :, None] * hf_inv_freq()
    emb = torch.cat((freqs, freqs), dim=-1)
    cos, sin = emb.cos().unsqueeze(1), emb.sin().unsqueeze(1)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def meta_freqs():
    new = []
    for i in range(0, DIM, 2):
        freq = 1.0 / BASE ** (i / DIM)
        wavelen = 2 * math.pi / freq
        if wavelen < OLD_CONTEXT / HIGH:
            new.append(freq)
        elif wavelen > OLD_CONTEXT / LOW:
            new.append(freq / FACTOR)
        else:
            smooth = (OLD_CONTEXT / wavelen - LOW) / (HIGH - LOW)
            new.append((1 - smooth) * freq / FACTOR + smooth * freq)
    return torch.tensor(new)


def turn(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def right(q, k, position_ids):
    angle = torch.einsum("bt,d->btd", position_ids.to(q.dtype), meta_freqs())[:, None]
    cos, sin = torch.cos(angle), torch.sin(angle)
    return turn(q, cos, sin), turn(k, cos, sin)


def inputs():
    return torch.randn(2, 4, 5, DIM), torch.randn(2, 2, 5, DIM), torch.tensor([[0, 1, 2, 3, 4], [7, 8, 9, 10, 11]])
