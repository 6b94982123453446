"""NTK-aware context extension: change the base, or change the frequencies."""
import torch

DIM = 16
BASE = 10000.0
ALPHA = 4.0


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


def left(q, position_ids):
    base = BASE * ALPHA ** (DIM / (DIM - 2))
    inv_freq = 1.0 / (base ** (torch.arange(0, DIM, 2, dtype=q.dtype) / DIM))
    freqs = position_ids[:, :, None].to(q.dtype) * inv_freq
    emb = torch.cat((freqs, freqs), dim=-1)
    cos, sin = emb.cos()[:, None], emb.sin()[:, None]
    return q * cos + rotate_half(q) * sin


def right(q, position_ids):
    i = torch.arange(DIM // 2, dtype=q.dtype)
    inv_freq = BASE ** (-2 * i / DIM)
    inv_freq = inv_freq / ALPHA ** (2 * i / (DIM - 2))
    angles = torch.einsum("bt,f->btf", position_ids.to(q.dtype), inv_freq)
    cos, sin = angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)
    a, b = q.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


inputs = (torch.randn(2, 3, 7, DIM), torch.arange(7).expand(2, 7) + torch.tensor([[0], [5]]))
