"""YaRN attention: cosines and sines scaled as in Transformers, and a kernel with one scale."""
import math

import torch
from torch import nn
from torch.nn import functional as F

HEADS, D, BASE, FACTOR, ORIGINAL = 2, 16, 10000.0, 8.0, 32
FAST, SLOW = 32, 1


def inverse_frequencies():
    def dimension(rotations):
        return D * math.log(ORIGINAL / (rotations * 2 * math.pi)) / (2 * math.log(BASE))

    low, high = max(math.floor(dimension(FAST)), 0), min(math.ceil(dimension(SLOW)), D - 1)
    inv = 1 / BASE ** (torch.arange(0, D, 2, dtype=torch.get_default_dtype()) / D)
    ramp = ((torch.arange(D // 2) - low) / max(high - low, 0.001)).clamp(0, 1)
    return inv / FACTOR * ramp + inv * (1 - ramp)


MSCALE = 0.1 * math.log(FACTOR) + 1


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(HEADS * D, HEADS * D, bias=False) for _ in range(3))
        self.register_buffer("inv", inverse_frequencies())

    def heads(self, x):
        return (f(x).unflatten(-1, (HEADS, D)).transpose(1, 2) for f in (self.q, self.k, self.v))


class Transformers(Base):
    def forward(self, x):
        q, k, v = self.heads(x)
        angle = torch.outer(torch.arange(x.shape[1], dtype=x.dtype), self.inv)
        angle = torch.cat([angle, angle], -1)
        cos, sin = angle.cos() * MSCALE, angle.sin() * MSCALE

        def rotate(y):
            a, b = y.chunk(2, -1)
            return y * cos + torch.cat([-b, a], -1) * sin

        y = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        return y.transpose(1, 2).flatten(2)


class Kernel(Base):
    def forward(self, x):
        q, k, v = self.heads(x)
        t = x.shape[1]
        angle = torch.arange(t, dtype=x.dtype)[:, None] * self.inv
        turn = torch.polar(torch.ones_like(angle), angle)

        def rotate(y):
            z = torch.complex(*y.chunk(2, -1)) * turn
            return torch.cat([z.real, z.imag], -1)

        scores = rotate(q) @ rotate(k).transpose(-1, -2) * (D**-0.5 * MSCALE)
        future = torch.ones(t, t, dtype=torch.bool).triu(1)
        y = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
        return y.transpose(1, 2).flatten(2)


def left():
    return Transformers()


def right():
    return Kernel()


def inputs():
    return (3 * torch.randn(2, 7, HEADS * D),)
